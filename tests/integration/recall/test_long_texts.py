"""A text longer than a page is found, shown, linked and judged by the sentence that matters."""

import uuid
from collections.abc import Iterator

import pytest

import biem
from biem.domain.policies.aim import AimPolicy
from tests.support.fakes import WordEmbedder
from tests.support.life_workloads import ONLY_SLEEP
from tests.support.servers import Configure

PAGE = {
    "en": "Paragraph {n} of the minutes deals with chairs, parking and the colour of curtains in room {n}. ",
    "zh": "会议纪要第{n}段谈的是{n}号房间的椅子、停车和窗帘颜色。",
}
SENTENCE = {"en": "My sister lives in Gothenburg.", "zh": "我妹妹住在哥德堡。"}
ASKED = {"en": "Where does my sister live?", "zh": "我妹妹住在哪里？"}
NEWER = {"en": "My sister lives in Ljubljana now.", "zh": "我妹妹现在住在卢布尔雅那。"}
LANGUAGES = ("en", "zh")


def pages(language: str, start: int) -> str:
    """More than two thousand characters of something else."""
    return "".join(PAGE[language].format(n=number) for number in range(start, start + 80))


@pytest.fixture
def memory(settings: Configure) -> Iterator[biem.Memory]:
    scope = biem.Scope(user=uuid.uuid4().hex)
    chosen = settings(sleep=ONLY_SLEEP, aim=AimPolicy(admission="always"))
    with biem.connect(chosen, scope=scope, embedder=WordEmbedder(dim=512)) as opened:
        yield opened


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(
    "place", ["middle", *(pytest.param(place, marks=pytest.mark.long) for place in ("first", "last"))]
)
def test_a_sentence_of_a_long_text_is_found_and_shown(memory: biem.Memory, language: str, place: str) -> None:
    # Given several long texts, of which one has a sentence about something else
    before, after = {"first": (0, 2), "middle": (1, 1), "last": (2, 0)}[place]
    for number in range(3, 9):
        memory.remember(pages(language, 1_000 * number))
    text = pages(language, 0) * before + SENTENCE[language] + pages(language, 500) * after
    key = memory.remember(text)
    assert memory.flush()

    # When it is asked for / Then its text comes first, and a prompt gets the sentence, not the beginning of the text
    assert next(hit.node.id for hit in memory.recall(ASKED[language], top_k=3)) == key
    block = memory.context(ASKED[language])
    assert SENTENCE[language][:-1] in block.text
    assert len(block.text) < 1_500


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_long_text_is_linked_and_judged_by_its_sentences(memory: biem.Memory, language: str) -> None:
    # Given two long texts, one with a sentence about a sister's home, and one message in the same conversation
    long = memory.remember(pages(language, 0) + SENTENCE[language] + pages(language, 500), conversation="minutes")
    other = memory.remember(pages(language, 0) + pages(language, 500), conversation="archive")
    near = memory.remember(PAGE[language].format(n=7), conversation="minutes")
    assert memory.flush()

    # Then it is linked in time and in meaning
    ends = {(link.source if link.target == long else link.target, link.type) for link in memory.links(long)}
    assert ends >= {(near, "temporal"), (other, "semantic")}

    # When her home changes / Then the sentence alone is disputed: the rest of the text still holds
    newer = memory.remember(NEWER[language], conversation="travel")
    assert memory.flush()
    [conflict] = [one for one in memory.conflicts(status=None) if {one.older_id, one.newer_id} == {long, newer}]
    assert conflict.status == "pending"
    assert memory.get(long).superseded_by is None
    assert memory.recall(ASKED[language], top_k=1)[0].node.id == newer
