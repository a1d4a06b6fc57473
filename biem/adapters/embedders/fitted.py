"""All that was fitted to the space of an embedder."""

from biem.adapters.embedders.answers import answer_odds
from biem.adapters.embedders.directions import agenda_odds, change_odds, list_odds, personal_odds
from biem.adapters.embedders.query_map import list_map, map_by_kind, query_map
from biem.ports.embedding import Fitted


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
