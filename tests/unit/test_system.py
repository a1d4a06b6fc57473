"""The object graph of a running program is exchanged for another one."""

from dataclasses import fields

from biem.system import _REPLACED, System

KEPT = {"times", "telemetry", "unobserve", "release", "wrote", "closed", "views", "revive", "process"}
"""What belongs to the process and not to the embedder or its connections."""


def test_every_field_is_replaced_or_kept_when_a_program_changes_its_embedder() -> None:
    assert len(set(_REPLACED)) == len(_REPLACED)
    assert {each.name for each in fields(System)} == KEPT | set(_REPLACED)
    assert not KEPT & set(_REPLACED)
