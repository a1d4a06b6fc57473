"""One dialogue for each use that memories and notes are made for, with default settings."""

import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import biem
from biem import BIEMContextPlugin
from tests.support.servers import Configure

Answers = dict[str, list[str]]
"""Questions, and what must be in the block for each."""


@pytest.fixture
def memory(settings: Configure) -> Iterator[biem.Memory]:
    """A memory with the packaged embedder."""
    with biem.connect(settings(), scope=biem.Scope(user=uuid.uuid4().hex)) as opened:
        yield opened
        opened.erase(user=opened.bound_to.user)


def talked(memory: biem.Memory, *messages: str) -> None:
    """A conversation that ended."""
    with BIEMContextPlugin(memory, conversation=uuid.uuid4().hex) as plugin:
        for message in messages:
            plugin.record_user_message(message)
    assert memory.flush()


def asked(memory: biem.Memory, question: str) -> str:
    """What another conversation is given for a question."""
    with BIEMContextPlugin(memory, conversation=uuid.uuid4().hex) as plugin:
        return plugin.prepare_context(question)


def assistant(memory: biem.Memory, _folder: Path) -> Answers:
    """It knows preferences and habits."""
    talked(
        memory,
        "I prefer window seats when I fly.",
        "I go running every morning at six before breakfast.",
        "The printer in the office is out of paper again.",
    )
    return {
        "Which seat should I book for my flight?": ["window seats"],
        "When do I usually go running?": ["every morning at six"],
    }


def adviser(memory: biem.Memory, folder: Path) -> Answers:
    """It answers from a private library, and says where the answer stands."""
    (folder / "合同").mkdir()
    (folder / "合同" / "租赁.md").write_text(
        "# 租赁合同\n\n## 押金\n\n押金为两个月租金，退租后十四天内退还。\n\n## 维修\n\n五百元以下的维修由租客承担。\n",
        encoding="utf-8",
    )
    (folder / "travel.md").write_text(
        "# Travel policy\n\n## Trains\n\nFirst class is paid for journeys of more than four hours.\n\n"
        "## Hotels\n\nA night may cost at most 140 euros.\n"
    )
    memory.notes.add(folder, name="library")
    memory.notes.sync()
    talked(memory, "I am travelling to Lyon next week.")
    return {
        "How much may a hotel cost a night under our travel policy?": ["140 euros", "travel.md:9"],
        "租赁合同的押金什么时候退还？": ["十四天内退还", "租赁.md:5"],
    }


def companion(memory: biem.Memory, _folder: Path) -> Answers:
    """It knows history, feelings and relations."""
    talked(
        memory,
        "我妹妹小雨上个月去了上海工作。",
        "小雨走了以后我很难过，家里太安静了。",
        "我和大学同学阿强吵架了，好几天没有说话。",
    )
    return {
        "我妹妹小雨去哪里工作了？": ["上海"],
        "小雨走了以后我的心情怎么样？": ["难过"],
        "我和哪个大学同学吵架了？": ["阿强"],
    }


@pytest.mark.req("G71")
@pytest.mark.parametrize("dialogue", [assistant, adviser, companion])
def test_what_each_use_asks_for_is_reported(
    memory: biem.Memory, tmp_path: Path, dialogue: Callable[[biem.Memory, Path], Answers]
) -> None:
    # Given what a user said and wrote down
    answers = dialogue(memory, tmp_path)
    # When it is asked in another conversation / Then it is in the block
    for question, parts in answers.items():
        told = asked(memory, question)
        assert [part for part in parts if part not in told] == []
