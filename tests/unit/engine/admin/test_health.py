"""`biem health`: what makes a system ready, what it can do without, and that asking raises nothing."""

from collections.abc import Sequence
from datetime import datetime

import pytest

from biem.domain.diagnosis import Health
from biem.engine.admin.diagnosis import ask
from biem.errors import BiemError, ConfigError, StoreUnavailable


class Place:
    """A server that answers, or says why not."""

    def __init__(self, name: str, error: BiemError | None = None) -> None:
        self.name = name
        self._error = error

    def reach(self) -> None:
        if self._error:
            raise self._error

    def now(self) -> datetime | None:
        return None


class Schema:
    """A database's schema that lacks these migrations."""

    def __init__(self, *missing: str, error: BiemError | None = None) -> None:
        self._missing = missing
        self._error = error

    def missing(self) -> Sequence[str]:
        if self._error:
            raise self._error
        return self._missing

    def later(self) -> Sequence[str]:
        return ()


def asked(schema: Schema, **errors: BiemError) -> Health:
    """What a system says in which these servers fail."""
    return ask([Place(name, errors.get(name)) for name in ("postgres", "redis", "milvus")], schema)


@pytest.mark.req("X49", partly="readiness does not depend on a cache")
def test_a_system_is_ready_without_its_copies_and_says_which_are_missing() -> None:
    assert asked(Schema()) == Health({"postgres": "", "redis": "", "milvus": ""})
    assert asked(Schema()).ready
    found = asked(Schema(), redis=StoreUnavailable("it hangs"), milvus=ConfigError("a wrong URL"))
    assert found.ready
    assert found.degraded == ("redis", "milvus")
    assert found.servers == {"postgres": "", "redis": "it hangs", "milvus": "a wrong URL"}


def test_a_system_is_not_ready_without_the_records_or_their_schema() -> None:
    down = asked(Schema("never looked at"), postgres=StoreUnavailable("it is down"))
    assert (down.ready, down.degraded, down.schema) == (False, (), "")
    behind = asked(Schema("0002_life", "0003_links"))
    assert not behind.ready
    assert "2 migrations" in behind.schema
    gone = asked(Schema(error=StoreUnavailable("it went away")))
    assert (gone.ready, gone.schema) == (False, "it went away")
