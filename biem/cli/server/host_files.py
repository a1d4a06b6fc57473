"""Configuration files of programs that speak MCP: one entry is put in or taken out, and all else stays.

A file that cannot be read as what it should be is not touched. A change is written to a new file that takes the place
of the old one, of which a copy stays.
"""

import json
import os
import re
import shutil
import sys
import tempfile
import tomllib
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from biem.errors import InvalidInput

KEY = "BIEM_KEY"
BACKUP = ".before-biem"
"""Ends the name of the copy of the former file."""
_INPUT = "biem-key"
_NAME = re.compile("[A-Za-z0-9_-]{1,64}")


class Host(StrEnum):
    """Programs whose configuration is known."""

    CLAUDE_CODE = "claude-code"
    CLAUDE_DESKTOP = "claude-desktop"
    CURSOR = "cursor"
    VSCODE = "vscode"
    CODEX = "codex"
    OPENCODE = "opencode"


@dataclass(frozen=True, slots=True)
class HostEntry:
    """The server as it is entered: under a name, by a command or by the address of a running server."""

    name: str
    command: tuple[str, ...]
    url: str = ""

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name):
            raise InvalidInput(f"the name has 1 to 64 letters, digits, - or _, unlike {self.name!r:.80}")
        if self.url and not _is_address(self.url):
            raise InvalidInput(
                f"the address is as http://127.0.0.1:8766, without a name or password; the key comes from {KEY}"
            )


def _is_address(url: str) -> bool:
    """Whether it is one, and has no secret, which would stand in the file."""
    try:
        parts = urlsplit(url)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and "@" not in url and parts.port != 0
    except ValueError:
        return False


def file_of(host: Host) -> Path:
    """Where a program has its configuration: in this folder, or the user's own."""
    if host is Host.CODEX:
        return Path.home() / ".codex" / "config.toml"
    if host is Host.CLAUDE_DESKTOP:
        roots = {"darwin": Path("Library/Application Support"), "win32": Path("AppData/Roaming")}
        return Path.home() / roots.get(sys.platform, Path(".config")) / "Claude" / "claude_desktop_config.json"
    names = {Host.CURSOR: ".cursor/mcp.json", Host.VSCODE: ".vscode/mcp.json", Host.OPENCODE: "opencode.json"}
    return Path(names.get(host, ".mcp.json")).absolute()


def shown(host: Host, entry: HostEntry) -> str:
    """The entry, as it would stand in a file with nothing else."""
    return _table(entry) if host is Host.CODEX else _dumped(_put(host, {}, entry), 2)


def entered(host: Host, file: Path, entry: HostEntry) -> str:
    """The content of the file with the entry in place of a former one of that name. Raises `InvalidInput`."""
    text = _read(file)
    if host is Host.CODEX:
        return _entered_toml(file, text, entry)
    return _dumped(_put(host, _document(file, text), entry), _indent(text))


def removed(host: Host, file: Path, entry: HostEntry) -> bool:
    """Take the entry out of the file; False if it was not there."""
    text = _read(file)
    if host is Host.CODEX:
        if entry.name not in _toml(file, text).get("mcp_servers", {}):
            return False
        written(file, _without_table(file, text, entry.name))
        return True
    document = _document(file, text)
    if not _take(host, document, entry.name):
        return False
    written(file, _dumped(document, _indent(text)))
    return True


def written(file: Path, text: str) -> Path | None:
    """Replace a file at once; returns the copy of the former one, None if there was none."""
    target = file.resolve()  # a link stays a link
    target.parent.mkdir(parents=True, exist_ok=True)
    backup = None
    if target.exists():
        backup = target.with_name(target.name + BACKUP)
        shutil.copy2(target, backup)
    handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="") as stream:
            stream.write(text)
            stream.flush()
            os.fsync(stream.fileno())
        if backup is not None:
            shutil.copymode(backup, temporary)
        Path(temporary).replace(target)
    except BaseException:
        with suppress(OSError):
            Path(temporary).unlink()
        raise
    return backup


# -- JSON --------------------------------------------------------------------------------------------------------------


def _put(host: Host, document: dict[str, Any], entry: HostEntry) -> dict[str, Any]:
    group = _group(host)
    servers = document.setdefault(group, {})
    if not isinstance(servers, dict):
        raise InvalidInput(f"{group!r} of the file is no object; it is left as it is")
    servers[entry.name] = _json_entry(host, entry)
    if host is Host.VSCODE and entry.url:
        inputs = document.setdefault("inputs", [])
        if not isinstance(inputs, list):
            raise InvalidInput("'inputs' of the file is no list; it is left as it is")
        if not any(_is_our_input(each) for each in inputs):
            inputs.append({"type": "promptString", "id": _INPUT, "description": "Key of biem", "password": True})
    return document


def _take(host: Host, document: dict[str, Any], name: str) -> bool:
    servers = document.get(_group(host))
    if not isinstance(servers, dict) or name not in servers:
        return False
    del servers[name]
    inputs = document.get("inputs")
    if host is Host.VSCODE and isinstance(inputs, list) and f"${{input:{_INPUT}}}" not in json.dumps(servers):
        document["inputs"] = [each for each in inputs if not _is_our_input(each)]
        if not document["inputs"]:
            del document["inputs"]
    return True


def _group(host: Host) -> str:
    return {Host.VSCODE: "servers", Host.OPENCODE: "mcp"}.get(host, "mcpServers")


def _json_entry(host: Host, entry: HostEntry) -> dict[str, Any]:
    command, *arguments = entry.command
    address = f"{entry.url}/mcp"
    if host is Host.OPENCODE:
        if not entry.url:
            return {"type": "local", "command": [command, *arguments], "enabled": True}
        headers = {"Authorization": f"Bearer {{env:{KEY}}}"}
        return {"type": "remote", "url": address, "headers": headers, "oauth": False, "enabled": True}
    if host is Host.CLAUDE_DESKTOP:  # it knows commands only
        started: dict[str, Any] = {"command": command, "args": arguments}
        return {**started, "env": {"BIEM_URL": entry.url}} if entry.url else started
    if not entry.url:
        typed = {} if host is Host.CURSOR else {"type": "stdio"}
        return {**typed, "command": command, "args": arguments}
    keys = {Host.CURSOR: f"${{env:{KEY}}}", Host.VSCODE: f"${{input:{_INPUT}}}"}
    headers = {"Authorization": f"Bearer {keys.get(host, f'${{{KEY}}}')}"}
    return {**({} if host is Host.CURSOR else {"type": "http"}), "url": address, "headers": headers}


def _is_our_input(given: object) -> bool:
    return isinstance(given, Mapping) and given.get("id") == _INPUT


def _document(file: Path, text: str) -> dict[str, Any]:
    if not text.strip():
        return {}
    try:
        document = json.loads(text, object_pairs_hook=_unrepeated)
    except (ValueError, RecursionError):
        raise InvalidInput(
            f"{file} is no plain JSON (it may have comments) and is left as it is; enter by hand what --print shows"
        ) from None
    if not isinstance(document, dict):
        raise InvalidInput(f"{file} is no JSON object and is left as it is")
    return document


def _unrepeated(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A key that stands twice would be lost."""
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key is repeated")
    return found


def _indent(text: str) -> int | str:
    """The indentation of the first line that has one."""
    found = re.search(r"^([ \t]+)\S", text, re.MULTILINE)
    return found[1] if found else 2


def _dumped(document: Mapping[str, Any], indent: int | str) -> str:
    return json.dumps(document, indent=indent, ensure_ascii=False) + "\n"


# -- TOML --------------------------------------------------------------------------------------------------------------


def _entered_toml(file: Path, text: str, entry: HostEntry) -> str:
    before = _toml(file, text)
    servers = before.get("mcp_servers", {})
    rest = _without_table(file, text, entry.name) if entry.name in servers else text
    changed = f"{rest.rstrip()}\n\n{_table(entry)}" if rest.strip() else _table(entry)
    _require_rest(file, before, _toml(file, changed), entry.name)
    return changed


def _table(entry: HostEntry) -> str:
    lines = [f"[mcp_servers.{entry.name}]"]
    if entry.url:
        lines += [f"url = {_quoted(entry.url + '/mcp')}", f'bearer_token_env_var = "{KEY}"']
    else:
        command, *arguments = entry.command
        lines += [f"command = {_quoted(command)}", f"args = [{', '.join(map(_quoted, arguments))}]"]
    return "\n".join(lines) + "\n"


def _quoted(text: str) -> str:
    """A string of TOML; JSON's escapes are among its own."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _without_table(file: Path, text: str, name: str) -> str:
    """The text without the tables of one server; raises `InvalidInput` where it stands in another form."""
    own = re.compile(rf"""\s*\[\s*mcp_servers\s*\.\s*(?:{name}|"{name}"|'{name}')\s*(?:\.[^\]]*)?\]\s*(?:#.*)?$""")
    kept, inside = [], False
    for line in text.splitlines(keepends=True):
        if line.lstrip().startswith("["):
            inside = own.match(line.rstrip("\r\n")) is not None
        if not inside:
            kept.append(line)
    rest = "".join(kept)
    after = _toml(file, rest)
    _require_rest(file, _toml(file, text), after, name)
    if name in after.get("mcp_servers", {}):
        raise InvalidInput(f"{file} has {name!r} in a form that is not changed here; take it out by hand")
    return rest


def _require_rest(file: Path, before: Mapping[str, Any], after: Mapping[str, Any], name: str) -> None:
    """Raise `InvalidInput` unless all but one server is as it was."""

    def rest(document: Mapping[str, Any]) -> dict[str, Any]:
        others = {key: value for key, value in document.get("mcp_servers", {}).items() if key != name}
        return {**{key: value for key, value in document.items() if key != "mcp_servers"}, "mcp_servers": others}

    if rest(before) != rest(after):
        raise InvalidInput(f"{file} cannot be changed without changing other parts of it; enter what --print shows")


def _toml(file: Path, text: str) -> dict[str, Any]:
    try:
        found = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InvalidInput(f"{file} is no TOML ({error}) and is left as it is") from None
    if not isinstance(found.get("mcp_servers", {}), dict):
        raise InvalidInput(f"'mcp_servers' of {file} is no table; it is left as it is")
    return found


def _read(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except FileNotFoundError:
        return ""
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(f"{file} cannot be read: {error}") from None
