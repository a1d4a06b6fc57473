"""Which servers the suite runs on is decided in one place, and every wish is granted or refused aloud."""

from collections.abc import Mapping

import pytest

from biem.bootstrap import Servers
from tests.conftest import CHOICE
from tests.support.servers import GIVEN, Configure, choose

URLS = dict.fromkeys(GIVEN.values(), "somewhere")


@pytest.mark.parametrize(
    ("environ", "docker", "kind"),
    [
        ({}, True, "embedded"),
        ({"BIEM_TEST_SERVERS": ""}, True, "embedded"),
        ({"BIEM_TEST_SERVERS": "embedded"}, True, "embedded"),
        ({"BIEM_TEST_SERVERS": "auto"}, True, "containers"),
        ({"BIEM_TEST_SERVERS": "auto"}, False, "embedded"),
        ({"BIEM_TEST_SERVERS": "containers"}, True, "containers"),
        ({"BIEM_TEST_SERVERS": "milvus-server", "BIEM_TEST_MILVUS_SERVER": "/a/program"}, True, "milvus-server"),
        (URLS, False, "given"),
        (URLS | {"BIEM_TEST_SERVERS": "containers"}, True, "given"),
    ],
)
def test_the_environment_decides(environ: Mapping[str, str], docker: bool, kind: str) -> None:
    # Given an environment / When the suite chooses / Then it is as asked, and says why
    choice = choose(environ, lambda: docker)
    assert choice.kind == kind
    assert choice.why
    assert bool(choice.urls) == (kind in ("given", "milvus-server"))


@pytest.mark.parametrize(
    ("environ", "named"),
    [
        ({"BIEM_TEST_SERVERS": "containers"}, "no Docker answers"),
        ({"BIEM_TEST_SERVERS": "podman"}, "podman"),
        ({"BIEM_TEST_SERVERS": "milvus-server"}, "BIEM_TEST_MILVUS_SERVER"),
        ({"BIEM_TEST_REDIS_URL": "redis://x"}, "BIEM_TEST_POSTGRES_DSN, BIEM_TEST_MILVUS_URI not set"),
    ],
)
def test_a_wish_that_cannot_be_met_ends_the_run(environ: Mapping[str, str], named: str) -> None:
    # Given such a wish / When the suite chooses / Then nothing else is taken in silence
    with pytest.raises(pytest.UsageError, match=named):
        choose(environ, lambda: False)


def test_docker_is_not_asked_where_it_is_not_wanted() -> None:
    # Given the default / When the suite chooses / Then a machine without Docker waits for nothing
    choose({}, lambda: pytest.fail("was asked"))


def test_the_servers_of_a_run_are_those_of_its_header(
    request: pytest.FixtureRequest, stack: Servers, settings: Configure, environment: dict[str, str]
) -> None:
    # Given the session's servers / When they are compared with the choice / Then they are of that kind
    embedded = request.config.stash[CHOICE].kind == "embedded"
    assert stack.embedded == embedded
    assert (settings().postgres_url() is None) == embedded
    assert ("BIEM_POSTGRES_DSN" in environment) != embedded
