"""Which folders of the server a key may register: those of its scope, and no way leads out of them."""

import sys
from pathlib import Path

import pytest

from biem.cli.app import run
from biem.domain.scope import Scope
from biem.errors import AccessDenied, ConfigError
from biem.server.notes import NoteFolders

ANN = Scope("acme", "ann", "")
BOAT = Scope("acme", "ann", "boat")


def test_a_scope_has_its_own_folder_and_what_is_below(tmp_path: Path) -> None:
    # Given folders by user, and by project
    folders = NoteFolders([f"{tmp_path}/own/{{user}}", f"{tmp_path}/projects/{{tenant}}/{{project}}"])
    own, boat = tmp_path / "own" / "ann", tmp_path / "projects" / "acme" / "boat"

    # When a scope asks / Then absolute folders and those relative to its first are found
    assert folders.admitted(ANN, str(own)) == folders.admitted(ANN, "") == str(own)
    assert folders.admitted(ANN, "a/../b") == str(own / "b")
    assert folders.admitted(BOAT, str(boat / "log")) == str(boat / "log")

    # And a scope without a project has none of the second kind, which would be the folder of all projects
    with pytest.raises(AccessDenied):
        folders.admitted(ANN, str(tmp_path / "projects" / "acme"))


@pytest.mark.parametrize(
    "given",
    ["/", "/etc", "..", "../bo", "../../own", "a/../../bo", "../annex", "link", "link/x", "a\0b", "~", "\ud800"],
)
def test_no_way_leads_out_of_the_folder(tmp_path: Path, given: str) -> None:
    # Given the folder of a user with a link to that of another
    for user in ("ann", "annex", "bo"):
        (tmp_path / user).mkdir()
    (tmp_path / "ann" / "link").symlink_to(tmp_path / "bo")
    folders = NoteFolders([f"{tmp_path}/{{user}}"])

    # When something else is asked for / Then it is refused, whether it exists or not; "~" is a name like others
    if given == "~":
        assert folders.admitted(ANN, given) == str(tmp_path / "ann" / "~")
        return
    with pytest.raises(AccessDenied) as refused:
        folders.admitted(ANN, given)
    with pytest.raises(AccessDenied, match="--notes-root") as missing:
        folders.admitted(ANN, "/nowhere/at/all")
    assert str(refused.value) == str(missing.value)


@pytest.mark.parametrize("user", ["..", ".", "a/b", "..\\x", "/", "{user}"])
def test_a_name_that_is_no_name_of_a_folder_has_none(tmp_path: Path, user: str) -> None:
    folders = NoteFolders([f"{tmp_path}/{{user}}"])
    if user == "{user}":  # what stands in a name is not replaced again
        assert folders.admitted(Scope("acme", user, ""), "") == str(tmp_path / user)
        return
    with pytest.raises(AccessDenied):
        folders.admitted(Scope("acme", user, ""), "")


def test_without_a_pattern_no_folder_is_taken(tmp_path: Path) -> None:
    with pytest.raises(AccessDenied):
        NoteFolders([]).admitted(ANN, str(tmp_path))


@pytest.mark.parametrize(
    "pattern", ["", "/notes/{name}", "/notes/{user", "/notes/{}", "/notes/{user!r}", "/notes/{user:>9}"]
)
def test_a_wrong_pattern_is_an_error_at_the_start(pattern: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(ConfigError, match="--notes-root"):
        NoteFolders([pattern])
    assert run(["serve", "--notes-root", pattern]) == ConfigError.exit_code
    assert "--notes-root" in capsys.readouterr().err
    assert "uvicorn" in sys.modules
