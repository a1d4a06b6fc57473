"""The documentation runs: every Python and console block, in order, page by page, against real embedded servers.

A `python` block is executed, and a `text` block right after it must be what it printed. Each `$ …` line of a `console`
block is run by a shell with the real `biem` on its path, must succeed, and must print the lines that follow it. The
README's commands start an interpreter each, those of other pages are forked from one that has loaded them. White space
is not compared (a terminal shows tables, a pipe gets tabs), and `...` stands for anything on one line.
`<!-- not run: reason -->` right before a block is the only way out, and all of them are listed below.
"""

import io
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import biem
from biem.bootstrap import build_embedder, servers
from biem.config import Settings
from tests.integration.documentation.preloaded import preloaded

ROOT = Path(__file__).parents[3]
INSTALLED = Path(sys.executable).parent
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").glob("*.md")])
NOT_RUN = {
    ("README.md", "they build the environment that this test runs in"): 1,
    ("quickstart.md", "they build the environment that this test runs in"): 1,
}
_FENCE = re.compile(
    r"^(?:<!-- not run: (?P<reason>[^\n]+?) -->\n)?```(?P<kind>\w*)\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL
)
_RUN = ("python", "console")
_END = "\x1e"
_TIMEOUT_S = 300


@dataclass(frozen=True)
class Block:
    """One fenced block; `reason` says why it is not run, `printed` is the `text` block that follows it."""

    line: int
    kind: str
    body: str
    reason: str | None
    printed: str | None


def blocks(page: Path) -> Iterator[Block]:
    """The blocks of a page in order."""
    text = page.read_text(encoding="utf-8")
    found = list(_FENCE.finditer(text))
    for fence, following in zip(found, [*found[1:], None], strict=False):
        right_after = following is not None and not text[fence.end() : following.start()].strip()
        printed = following["body"] if following and right_after and following["kind"] == "text" else None
        line = text.count("\n", 0, fence.start()) + 1
        yield Block(line, fence["kind"], fence["body"], fence["reason"], printed)


_PROGRESS = re.compile(r"\w+(?: \d+%)?: .*/(?:s|min)\)")
"""A line that a busy machine prints while one waits, and an idle one does not."""


def agrees(shown: str, printed: str) -> bool:
    """Whether what the page shows is what was printed, line by line, progress left out."""
    wanted, got = ([" ".join(line.split()) for line in text.splitlines() if line.strip()] for text in (shown, printed))
    got = [line for line in got if not _PROGRESS.fullmatch(line)]
    return len(wanted) == len(got) and all(
        re.fullmatch(".*".join(map(re.escape, line.split("..."))), answer)
        for line, answer in zip(wanted, got, strict=True)
    )


def commands(body: str) -> list[tuple[str, str]]:
    """The commands of a console block, each with the lines shown below it."""
    found: list[tuple[str, str]] = []
    for line in body.splitlines():
        if line.startswith("$ "):
            found.append((line[2:], ""))
        else:
            assert found, f"a console block begins with output: {line}"
            found[-1] = (found[-1][0], found[-1][1] + line + "\n")
    return found


def run_console(block: Block, folder: Path, biem: Path) -> None:
    """Run a console block in one shell, so that a variable lives to its end; `biem` is the folder of the command."""
    wanted = commands(block.body)
    script = "".join(
        f"{command}\ncode=$?; printf '{_END}%s{_END}' $code; [ $code = 0 ] || exit\n" for command, _ in wanted
    )
    path = os.pathsep.join([str(biem), str(INSTALLED), os.environ.get("PATH", "")])
    done = subprocess.run(
        ["bash", "-c", script],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        cwd=folder,
        env=os.environ | {"PATH": path, "TZ": "UTC", "PYTHONUNBUFFERED": "1"},  # lines in the order of a terminal
        timeout=_TIMEOUT_S,
        check=False,
    )
    answers = done.stdout.decode().split(_END)
    for number, (command, shown) in enumerate(wanted):
        printed, code = answers[2 * number : 2 * number + 2]
        assert code == "0", f"line {block.line}: `{command}` ends with {code}: {printed}"
        assert agrees(shown, printed), f"line {block.line}: `{command}` prints\n{printed}\nand the page shows\n{shown}"


def run_python(block: Block, page: Path, names: dict[str, Any]) -> None:
    """Run a Python block with the names of those before it."""
    printed = io.StringIO()
    with redirect_stdout(printed):
        # Blank lines first, so that a traceback names the line of the page.
        exec(compile("\n" * block.line + block.body, str(page), "exec"), names)
    if block.printed is not None:
        assert printed.getvalue().strip() == block.printed.strip(), f"line {block.line}"
    else:
        assert not printed.getvalue(), f"line {block.line} prints, and the page does not show it: {printed.getvalue()}"


@pytest.fixture(scope="module")
def docs_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A home that pages may stop and start as they like."""
    home = tmp_path_factory.mktemp("docs") / "home"
    yield home
    subprocess.run([INSTALLED / "biem", "--home", home, "local", "down"], check=True, capture_output=True)


@pytest.fixture
def _servers_stay(docs_home: Path) -> Iterator[None]:
    """Servers that a page finds running; each command that finds none starts them, and ends them when it leaves."""
    with servers(Settings(home=docs_home)):
        yield


@pytest.fixture(scope="module")
def forked_biem(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The folder of a `biem` that needs not be loaded for each call."""
    with preloaded(tmp_path_factory.mktemp("bin")) as folder:
        yield folder


@pytest.fixture(scope="module")
def _model_stays_loaded(docs_home: Path) -> Iterator[None]:
    """Memories of one process share the packaged model; each page would load it several times."""
    embedder = build_embedder(Settings(home=docs_home))
    yield
    embedder.close()


@pytest.mark.usefixtures("_model_stays_loaded", "_servers_stay")
@pytest.mark.req("G69")
@pytest.mark.req("X2", partly="the documented examples, with default settings")
@pytest.mark.parametrize(
    "page", [page for page in PAGES if any(block.kind in _RUN for block in blocks(page))], ids=lambda page: page.stem
)
def test_a_page_does_what_it_says(
    page: Path, docs_home: Path, forked_biem: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BIEM_HOME", str(docs_home))
    monkeypatch.setenv("BIEM_TENANT", page.stem)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))  # AIMate has files there
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {"__name__": "__docs__"}
    try:
        for block in blocks(page):
            if block.reason is None and block.kind == "python":
                run_python(block, page, names)
            elif block.reason is None and block.kind == "console":
                run_console(block, tmp_path, INSTALLED if page.name == "README.md" else forked_biem)
    finally:
        for value in names.values():
            if isinstance(value, biem.Memory):
                value.close()


def test_every_block_that_does_not_run_is_listed_with_its_reason() -> None:
    found: dict[tuple[str, str], int] = {}
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        assert len(re.findall("not run:", text)) == sum(block.reason is not None for block in blocks(page)), page.name
        for block in blocks(page):
            assert block.kind in (*_RUN, "text"), f"{page.name}:{block.line}: a block of kind {block.kind!r} is not run"
            if block.reason is not None:
                assert block.kind in _RUN, f"{page.name}:{block.line}: only what would be run may be left out"
                found[page.name, block.reason] = found.get((page.name, block.reason), 0) + 1
    assert found == NOT_RUN


def test_the_comparison_sees_a_difference() -> None:
    assert agrees("id ...\n1  0.5", "id 4711\n1\t0.5\n")
    assert not agrees("1 0.5", "1 0.6")
    assert not agrees("id ...", "id 4711\nand a traceback")
    assert not agrees("", "something")
