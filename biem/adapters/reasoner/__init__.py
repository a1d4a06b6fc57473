"""The language model behind the port `Reasoner`: any OpenAI-compatible chat endpoint; none without a URL."""

import time
from collections.abc import Callable

from biem.adapters.reasoner.budget import REPLY_THREADS, ModelLimits, WorkerDesk
from biem.adapters.reasoner.chat import ChatReasoner
from biem.adapters.reasoner.client import ChatClient
from biem.ports import Clock
from biem.ports.reasoner import Reasoner, ReasonerLedger
from biem.telemetry import Telemetry

WORKER_CONNECTIONS = 8


def build(
    *,
    url: str,
    api_key: str = "",
    small_model: str = "",
    large_model: str = "",
    max_output_tokens: int = 1024,
    limits: ModelLimits,
    ledger: ReasonerLedger,
    clock: Clock,
    telemetry: Telemetry,
    seconds: Callable[[], float] = time.monotonic,
) -> Reasoner | None:
    """The reasoner of these settings; None where no URL is set. Raises `ConfigError`, and sends no request."""
    if not url.strip():
        return None
    client = ChatClient(
        url=url.strip(),
        api_key=api_key,
        small_model=small_model.strip(),
        large_model=large_model.strip(),
        max_output_tokens=max_output_tokens,
        connections=WORKER_CONNECTIONS + REPLY_THREADS,
    )
    desk = WorkerDesk(client, ledger, clock=clock, telemetry=telemetry, limits=limits, seconds=seconds)
    return ChatReasoner(desk)
