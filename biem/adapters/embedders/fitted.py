"""All that was fitted to the space of an embedder."""

import importlib.util
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from biem.adapters.embedders.answers import answer_odds
from biem.adapters.embedders.directions import agenda_odds, change_odds, list_odds, personal_odds
from biem.adapters.embedders.query_map import list_map, map_by_kind, query_map
from biem.ports.embedding import Fitted, PairOdds, PairReaders, TextPair


def fitted_to(embedder_id: str) -> Fitted:
    """What the packaged files have for this model."""
    return Fitted(
        query_map=map_by_kind(query_map(embedder_id), list_map(embedder_id), list_odds(embedder_id)),
        change_odds=change_odds(embedder_id),
        personal_odds=personal_odds(embedder_id),
        agenda_odds=agenda_odds(embedder_id),
        list_odds=list_odds(embedder_id),
        answer_odds=answer_odds(embedder_id),
    )


def ending_odds(embedder_id: str, threads: int | None, give_way: Callable[[], None]) -> PairOdds | None:
    """That the second of two messages ends what the first says, read together; None as `_read_by` says."""
    return _read_by("SUPERSESSION", embedder_id, threads, give_way)


def pair_readers(embedder_id: str, threads: int | None) -> PairReaders:
    """What a block is read with; None as `_read_by` says."""
    return PairReaders(*(_read_by(one, embedder_id, threads, lambda: None) for one in ("ANSWERING", "SUPERSESSION")))


def _read_by(weights: str, embedder_id: str, threads: int | None, give_way: Callable[[], None]) -> PairOdds | None:
    """The log-odds of a model of `pair_reader`, loaded at the first pair.

    None for other embedders than e5, and where onnxruntime is not installed. `give_way` is called before each batch.
    """
    if not embedder_id.startswith("multilingual-e5-small") or not importlib.util.find_spec("onnxruntime"):
        return None

    def odds(pairs: Sequence[TextPair]) -> NDArray[np.float32]:
        from biem.adapters.embedders import pair_reader  # noqa: PLC0415  most processes read no pair

        return pair_reader.SharedPairOdds(getattr(pair_reader, weights), threads, give_way)(pairs)

    return odds
