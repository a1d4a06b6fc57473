"""A memory for asynchronous programs: opened and closed on a thread, with synchronous methods."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from biem.bootstrap import connect

if TYPE_CHECKING:
    from biem.memory import Memory


@asynccontextmanager
async def aconnect(**options: Any) -> AsyncIterator["Memory"]:
    """`connect`, for `async with`: opens and closes on a thread while the event loop goes on.

    Takes and raises what `connect` does. Call the memory's methods as `await asyncio.to_thread(memory.recall, "…")`.
    """
    memory = await asyncio.to_thread(connect, **options)
    try:
        yield memory
    finally:
        await asyncio.to_thread(memory.close)
