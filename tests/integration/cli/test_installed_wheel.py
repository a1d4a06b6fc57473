"""The `biem` command of the built wheel, in an environment without the checkout."""

import json
import os
import re
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.support.wheels import built, installed

RUN = "import biem, sys; assert sys.prefix in biem.__file__, biem.__file__; from biem.cli import main; main()"


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interpreter of an environment with the wheel and its dependencies."""
    folder = tmp_path_factory.mktemp("wheel")
    return installed(built(folder), folder / "venv", dependencies=True)


@pytest.fixture
def web(python: Path, environment: dict[str, str], tmp_path: Path) -> Iterator[str]:
    """The address of `biem web` of the wheel, on a port that the system chooses."""
    command = [str(python), "-P", "-c", RUN, "web", "--port", str(_free_port())]
    process = subprocess.Popen(command, cwd=tmp_path, env=_clean() | environment, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stderr is not None
        said = process.stderr.readline()
        address = re.match(r"http://\S+", said)
        assert address, said + process.stderr.read()
        yield address[0]
    finally:
        process.terminate()
        process.communicate(timeout=60)


@pytest.mark.long
def test_the_demo_of_the_wheel_answers_its_questions_at_first_sight(python: Path, tmp_path: Path) -> None:
    # Given the wheel, and servers in a home of the test's own / When its demo runs
    command = [str(python), "-P", "-c", RUN, "--home", str(tmp_path / "home"), "demo", "--json"]
    done = subprocess.run(command, cwd=tmp_path, env=_clean(), capture_output=True, text=True, timeout=540, check=False)

    # Then each answer stands in the first line of its block, the last one in that of a note
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    # A search that met its time limit on a busy machine is named; its answer would be no fault of the ranking
    assert [(question["degraded"], question["indexing"]) for question in document["questions"]] == [([], 0)] * 7
    texts = [question["text"] for question in document["questions"]]
    answers = ("浙二医院", "November 22", "8:30", "10 月 27", "Andorinhas", "32,600", "20 minutes")
    for text, answer in zip(texts, answers, strict=True):
        assert answer in "".join(line for line in text.splitlines() if line.startswith(("1.", "  >")))
    *asked, of_a_note = document["questions"]
    assert all(question["hits"][0]["why"] for question in asked)
    assert of_a_note["notes"][0].startswith("field-guide.md:8")
    assert set(document["timings"]) >= {"ack", "recall"}
    assert document["stats"]["memories"] == 391
    # And a memory was corrected, two disagree, topics are related, and a night has passed
    life = document["life"]
    assert ("Porto" in life["now"], "Graça" in life["then"]) == (True, True)
    assert (life["conflict"]["kind"], life["conflict"]["decided_by"]) == ("update", "rule")
    assert life["related"][0]["memory"]
    assert next(iter(life["sleep"])) == "build"


@pytest.mark.long
def test_the_web_page_of_the_wheel_is_served(web: str) -> None:
    # Given `biem web` / When a browser opens the page / Then it and the health of the servers are there
    with httpx.Client(base_url=web, timeout=60) as browser:
        page = browser.get("/")
        assert page.status_code == 200
        assert "<title>" in page.text
        assert browser.get("/health").json()


def _clean() -> dict[str, str]:
    """The environment without settings and without anything that leads to the checkout."""
    return {name: value for name, value in os.environ.items() if not name.startswith(("BIEM_", "PYTHON"))}


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as found:
        return int(found.getsockname()[1])
