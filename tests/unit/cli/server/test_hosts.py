"""`biem connect`: one entry goes into a configuration file or out of it, and nothing else changes."""

import json
import stat
import tomllib
from pathlib import Path
from typing import Any

import pytest

from biem.cli.app import run
from biem.cli.server.host_files import Host, HostEntry, entered, file_of, removed, shown, written
from biem.errors import InvalidInput

LOCAL = HostEntry("biem", ("/opt/bin/biem", "--user", 'An "n"', "mcp"))
REMOTE = HostEntry("biem", ("/opt/bin/biem", "mcp"), "http://127.0.0.1:8766")
JSON_HOSTS = [host for host in Host if host is not Host.CODEX]
OTHERS: dict[str, Any] = {
    "theme": "dark",
    "mcpServers": {"files": {"command": "files"}},
    "servers": {"files": {"type": "stdio", "command": "files"}},
    "mcp": {"files": {"type": "local", "command": ["files"]}},
    "inputs": [{"id": "other", "type": "promptString"}],
    "中": [1, 2.5, None],
}
CODEX = """\
# My settings
model = "o9"  # the newest

[mcp_servers.files]
command = "files"

[mcp_servers.biem]
command = "old"
[mcp_servers.biem.env]
A = "[mcp_servers.files]"

[profiles.x]
note = '''
two
lines'''
"""


@pytest.mark.parametrize("host", JSON_HOSTS)
@pytest.mark.parametrize("entry", [LOCAL, REMOTE], ids=["command", "url"])
def test_an_entry_goes_in_and_out_and_all_else_stays(host: Host, entry: HostEntry, tmp_path: Path) -> None:
    # Given a file with other things in it, indented by tabs
    file = tmp_path / "settings.json"
    before = json.dumps(OTHERS, indent="\t", ensure_ascii=False) + "\n"
    file.write_text(before, encoding="utf-8")

    # When the entry is written twice
    for _ in range(2):
        written(file, entered(host, file, entry))
    text = file.read_text(encoding="utf-8")

    # Then it is there once, and everything else is as it was, in its order
    document = json.loads(text)
    group = {Host.VSCODE: "servers", Host.OPENCODE: "mcp"}.get(host, "mcpServers")
    assert list(document[group]) == ["files", "biem"]
    assert '"中"' in text
    assert text.startswith('{\n\t"theme"')
    # And taken out, the file is the same again
    assert removed(host, file, entry)
    assert file.read_text(encoding="utf-8") == before
    assert not removed(host, file, entry)


def test_the_forms_of_the_hosts() -> None:
    command, *arguments = LOCAL.command
    assert json.loads(shown(Host.CLAUDE_CODE, LOCAL)) == {
        "mcpServers": {"biem": {"type": "stdio", "command": command, "args": arguments}}
    }
    assert json.loads(shown(Host.OPENCODE, LOCAL))["mcp"]["biem"]["command"] == list(LOCAL.command)
    address = "http://127.0.0.1:8766/mcp"
    for host, group, header in (
        (Host.CLAUDE_CODE, "mcpServers", "Bearer ${BIEM_KEY}"),
        (Host.CURSOR, "mcpServers", "Bearer ${env:BIEM_KEY}"),
        (Host.VSCODE, "servers", "Bearer ${input:biem-key}"),
        (Host.OPENCODE, "mcp", "Bearer {env:BIEM_KEY}"),
    ):
        found = json.loads(shown(host, REMOTE))[group]["biem"]
        assert (found["url"], found["headers"]) == (address, {"Authorization": header})
    assert json.loads(shown(Host.CLAUDE_DESKTOP, REMOTE))["mcpServers"]["biem"]["env"] == {"BIEM_URL": REMOTE.url}
    assert tomllib.loads(shown(Host.CODEX, REMOTE))["mcp_servers"]["biem"] == {
        "url": address, "bearer_token_env_var": "BIEM_KEY",
    }  # fmt: skip
    assert tomllib.loads(shown(Host.CODEX, LOCAL))["mcp_servers"]["biem"]["args"] == arguments


def test_toml_keeps_its_comments_and_its_other_tables(tmp_path: Path) -> None:
    # Given a configuration with a former entry, comments, and brackets inside strings
    file = tmp_path / "config.toml"
    file.write_text(CODEX, encoding="utf-8")

    # When the entry is written
    written(file, entered(Host.CODEX, file, LOCAL))
    text = file.read_text(encoding="utf-8")

    # Then it replaces the former one, and nothing else is lost
    found = tomllib.loads(text)
    assert found["mcp_servers"]["biem"] == {"command": LOCAL.command[0], "args": list(LOCAL.command[1:])}
    assert (found["mcp_servers"]["files"], found["profiles"]) == (
        {"command": "files"},
        {"x": {"note": "two\nlines"}},
    )
    assert text.startswith('# My settings\nmodel = "o9"  # the newest\n')
    # And it can be taken out
    assert removed(Host.CODEX, file, LOCAL)
    assert "biem" not in tomllib.loads(file.read_text(encoding="utf-8"))["mcp_servers"]
    assert not removed(Host.CODEX, file, LOCAL)


@pytest.mark.parametrize(
    ("host", "content"),
    [
        (Host.VSCODE, '{"servers": {} /* mine */}'),
        (Host.CURSOR, "[]"),
        (Host.CURSOR, '{"mcpServers": []}'),
        (Host.CURSOR, '{"a": 1, "a": 2}'),
        (Host.CURSOR, "{" * 100_000),
        (Host.CODEX, "model ="),
        (Host.CODEX, "mcp_servers = 3"),
        (Host.CODEX, 'mcp_servers = {biem = {command = "x"}}'),
        (Host.CODEX, "a = '''\n[mcp_servers.biem]\n'''\n[mcp_servers.biem]\ncommand = 'x'\n"),
    ],
)
def test_a_file_that_cannot_be_changed_safely_is_left_as_it_is(host: Host, content: str, tmp_path: Path) -> None:
    file = tmp_path / "settings"
    file.write_text(content, encoding="utf-8")
    with pytest.raises(InvalidInput):
        entered(host, file, LOCAL)
    assert file.read_text(encoding="utf-8") == content


def test_a_write_keeps_rights_links_and_a_copy(tmp_path: Path) -> None:
    # Given a link to a file that only its owner may read
    real, link = tmp_path / "real.json", tmp_path / "link.json"
    real.write_text("{}", encoding="utf-8")
    real.chmod(0o600)
    link.symlink_to(real)

    # When it is written
    backup = written(link, '{"a": 1}')

    # Then the link leads to the new content with the same rights, next to a copy of the old one
    assert link.is_symlink()
    assert real.read_text(encoding="utf-8") == '{"a": 1}'
    assert stat.S_IMODE(real.stat().st_mode) == 0o600
    assert backup is not None
    assert backup.read_text(encoding="utf-8") == "{}"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link.json", "real.json", "real.json.before-biem"]


def test_a_new_file_gets_its_folder(tmp_path: Path) -> None:
    file = tmp_path / "a" / "b.json"
    assert written(file, entered(Host.CURSOR, file, LOCAL)) is None
    assert json.loads(file.read_text(encoding="utf-8")) == json.loads(shown(Host.CURSOR, LOCAL))


def test_the_command_prints_writes_and_removes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    # Given no configuration
    file = tmp_path / "mcp.json"

    def connect(*arguments: str) -> tuple[int, str]:
        code = run(["--user", "ana", "connect", "cursor", "--path", str(file), *arguments])
        return code, capsys.readouterr().out

    # When it is shown, nothing is written
    code, out = connect()
    assert (code, file.exists()) == (0, False)
    [shown_entry] = json.loads(out)["mcpServers"].values()
    assert shown_entry["args"] == ["--user", "ana", "mcp"]

    # When it is written and taken out again, the file has it, and has it no more
    assert connect("--write")[0] == 0
    assert json.loads(file.read_text(encoding="utf-8")) == json.loads(out)
    assert connect("--remove")[0] == 0
    assert json.loads(file.read_text(encoding="utf-8")) == {"mcpServers": {}}
    assert connect("--remove")[0] == 3
    assert connect("--remove", "--write")[0] == 2


def test_usual_places_and_names(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    assert file_of(Host.CLAUDE_CODE) == tmp_path / ".mcp.json"
    assert file_of(Host.CODEX) == tmp_path / ".codex" / "config.toml"
    assert file_of(Host.VSCODE) == tmp_path / ".vscode" / "mcp.json"
    for name in ("", "a b", "x" * 65, "a.b"):
        with pytest.raises(InvalidInput, match="name"):
            HostEntry(name, ("biem",))


@pytest.mark.parametrize(
    "url",
    [
        "http://ann:{}@h", "http://{}@h:1", "http://ann:1/{}@h", "h:8766", "ftp://h", "http://",
        "http://h:99999", "http://[::1",
    ],
)  # fmt: skip
def test_an_address_with_a_password_is_written_into_no_file(url: str) -> None:
    with pytest.raises(InvalidInput, match="BIEM_KEY") as caught:
        HostEntry("biem", ("biem",), url.format("quokka"))
    assert "quokka" not in str(caught.value)


@pytest.mark.parametrize("option", ["--user", "--project", "--tenant"])
def test_a_scope_that_an_entry_with_an_address_cannot_name_is_refused(
    option: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    address, file = ["--url", REMOTE.url], tmp_path / "x.json"
    assert run([option, "ana", "connect", "cursor", *address, "--path", str(file), "--write"]) == 2
    assert f"leave {option} out" in capsys.readouterr().err
    assert not file.exists()
    assert run([option, "ana", "connect", "claude-desktop", *address]) == 0
    assert f'"{option}",' in capsys.readouterr().out
