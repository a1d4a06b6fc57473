"""Hits as a recall measures them: with what the packaged embedder finds of likeness, of change and of an answer."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from biem.adapters import embedders
from biem.adapters.embedders.fitted import fitted_to
from biem.domain.node import Hit, Node, new_id
from biem.domain.scope import Scope
from biem.domain.speech.acts import asks_for_facts, is_statement
from biem.ports import Embedder
from tests.support.fakes import START


def hit(text: str, score: float = 0.8, *, days: int = 0, **values: Any) -> Hit:
    """A message of the user, `days` after the start, not measured yet. `values`: other fields of the node."""
    node = Node(
        **{"id": new_id(), "scope": Scope(), "text": text, "kind": "event", "status": "active", "layer": "short_term",
           "at": START + timedelta(days=days), "created_at": START, "source": "user", **values}
    )  # fmt: skip
    return Hit(node, score, {})


def measured(question: str, hits: Sequence[Hit]) -> list[Hit]:
    """The hits with their likeness to the question and to each other, and the log-odds of a change and of an answer."""
    packaged = embedder()
    rows = packaged.embed([one.node.text for one in hits], "passage")
    asked = packaged.embed([question], "query")[0]
    fitted = fitted_to(packaged.info.id)
    assert fitted.query_map is not None
    assert fitted.change_odds is not None
    assert fitted.answer_odds is not None
    mapped = fitted.query_map(asked[np.newaxis])[0]
    likeness = packaged.similarity(mapped, rows)
    changed, answering = fitted.change_odds(rows), fitted.answer_odds(asked, mapped, rows)
    seeks, found = asks_for_facts(question) or not is_statement(question), []
    for place, one in enumerate(hits):
        alike = np.asarray(packaged.similarity(rows[place], rows))
        others = {
            other.node.id: float(value)
            for other, value in zip(hits, alike, strict=True)
            if other is not one and value >= 0.15
        }
        why = {
            "likeness": float(likeness[place]),
            "changed": float(changed[place]),
        }
        if seeks:
            why["answering"] = float(answering[place])
        found.append(replace(one, why={**why, **one.why}, alike=others))
    return found


@cache
def embedder() -> Embedder:
    """The packaged one."""
    return embedders.build("e5", cache_dir=Path("unused"), cache_bytes=8_000_000, threads=1)
