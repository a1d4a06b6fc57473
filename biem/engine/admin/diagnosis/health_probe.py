"""Pings every server concurrently: cheap enough for a probe every few seconds."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from biem.domain.diagnosis import NEEDED, Health
from biem.errors import BiemError
from biem.ports.diagnosis import PlaceInspection, SchemaInspection


def ask(places: Sequence[PlaceInspection], schema: SchemaInspection) -> Health:
    """Their status; takes as long as the slowest of them, and never raises."""
    with ThreadPoolExecutor(len(places), thread_name_prefix="biem-health") as pool:
        answers = dict(zip((place.name for place in places), pool.map(_why_not, places), strict=True))
    return Health(answers, "" if answers[NEEDED] else _why_unfit(schema))


def _why_not(place: PlaceInspection) -> str:
    try:
        place.reach()
    except BiemError as error:
        return str(error)
    return ""


def _why_unfit(schema: SchemaInspection) -> str:
    try:
        missing = schema.missing()
    except BiemError as error:
        return str(error)
    return f"{len(missing)} migrations of this version are missing; run `biem migrate`" if missing else ""
