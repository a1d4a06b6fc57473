"""Reasons told in the message after, through the plugin, on real servers and with the packaged embedder."""

import uuid
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import pytest

import biem
from biem import BIEMContextPlugin
from biem.adapters import embedders
from tests.support.fakes import START, HeldClock
from tests.support.servers import Testbed

TOLD = [
    (
        "We've left the Tuva platform, the last booking through it was on Sunday.",
        "Twenty per cent, that eats my lunch.",
    ),
    ("我们从途蛙平台下架了。", "佣金提到百分之二十二，实在不划算。"),
]
ASKED = ["Why did we leave the Tuva platform?", "途蛙平台怎么就下架了？"]
OTHERS = 45
"""Messages that resemble the question more than the reason does: more than a block is chosen from."""


@pytest.mark.parametrize(("said", "question"), list(zip(TOLD, ASKED, strict=True)), ids=["en", "zh"])
def test_a_reason_is_told_though_it_does_not_resemble_the_question(
    testbed: Testbed, said: tuple[str, str], question: str
) -> None:
    clock = HeldClock()
    with (
        closing(embedders.build("e5", cache_dir=Path("unused"), cache_bytes=0, threads=1)) as packaged,
        biem.connect(
            testbed.settings(), scope=biem.Scope(user=uuid.uuid4().hex), embedder=packaged, clock=clock
        ) as memory,
    ):
        # Given a fact, the assistant's word, and the reason; and many messages on platforms
        for place, (text, who) in enumerate([(said[0], "user"), ("Understood.", "assistant"), (said[1], "user")]):
            at = START + timedelta(minutes=place)
            memory.remember(text, conversation="farewell", speaker=who, source=who, at=at)
        memory.remember_many(
            [
                {
                    "text": f"The platform of pier {n} is slippery, 平台{n}号太滑",
                    "conversation": f"d{n}",
                    "speaker": "user",
                    "source": "user",
                    "at": START + timedelta(days=1 + n),
                }
                for n in range(OTHERS)
            ]
        )
        assert memory.flush()
        clock.advance(days=60)
        # When the agent asks why / Then it reads the fact and the reason
        block = BIEMContextPlugin(memory).recall_context(question)
        found = [hit.node.text for hit in block.hits]
        assert found[0] == said[0]
        assert said[1] in found
