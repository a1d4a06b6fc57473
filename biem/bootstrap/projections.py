"""What Redis keeps of memories: one adapter a kind."""

from contextlib import ExitStack
from dataclasses import dataclass

from biem.adapters.activation import RedisMinds
from biem.adapters.aim import RedisHeadings
from biem.adapters.canvas import RedisCanvas
from biem.adapters.rates import RedisRates
from biem.adapters.redis import RedisHotStore
from biem.bootstrap.places import Servers
from biem.config import Settings
from biem.ports import EmbedderInfo

REDIS_TIMEOUT_S = 0.5


@dataclass(frozen=True, slots=True)
class Projections:
    """All of them."""

    canvas: RedisCanvas
    hot: RedisHotStore
    minds: RedisMinds
    rates: RedisRates
    headings: RedisHeadings


def open_projections(settings: Settings, where: Servers, info: EmbedderInfo, stack: ExitStack) -> Projections:
    """Adapters that connect when called, and are closed with the stack."""
    url, policies = where.redis_url, settings.policies
    canvas = RedisCanvas(
        url,
        timeout_s=REDIS_TIMEOUT_S,
        model=info.id,
        dim=info.dim,
        policy=policies.tiers,
        decay_per_hour=policies.energy.decay_per_hour,
    )
    opened = Projections(
        canvas=canvas,
        hot=RedisHotStore(url, timeout_s=REDIS_TIMEOUT_S),
        minds=RedisMinds(url, timeout_s=REDIS_TIMEOUT_S),
        rates=RedisRates(url, timeout_s=REDIS_TIMEOUT_S),
        headings=RedisHeadings(url, timeout_s=REDIS_TIMEOUT_S, model=info.id, dim=info.dim),
    )
    for one in (opened.canvas, opened.hot, opened.minds, opened.rates, opened.headings):
        stack.callback(one.close)
    return opened
