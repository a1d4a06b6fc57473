"""Made-up memories: sentences of 15–30 words, half Chinese, about topics whose words are Zipf-distributed.

The same seed gives the same texts in every process.
"""

import random
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import cache
from itertools import accumulate
from typing import Any

_TOPICS = 200
_WORDS_PER_TOPIC = 120
_RARE_WORDS = 20_000
_SPEAKERS = ("Ana", "Ben", "小林", "王芳")
_FIRST = datetime(2025, 1, 1, tzinfo=UTC)
_STEP = timedelta(seconds=7)

_SYLLABLES = tuple(consonant + vowel for consonant in "bcdfghklmnprstvz" for vowel in ("a", "e", "i", "o", "en", "or"))
_ENDINGS = ("", "", "", "s", "ed", "ing", "er", "ly", "tion", "ness")
_COMMON_EN = tuple(
    re.findall(r"\w+", "the a to and of in it was for on with at my we that this is had but they you i about")
)
_COMMON_ZH = tuple(
    re.findall(r"\w+", "的 了 在 我 是 有 和 就 也 都 去 跟 说 要 很 还 把 被 这 那 他 她 我们 今天 因为 觉得")
)
_HAN = (
    "天地人山水火木金土日月星风云雨雪花草树林河海江湖石路门窗桌椅书笔纸灯车船马牛羊鱼鸟虫衣帽鞋茶酒饭菜肉果糖盐油米面"
    "红黄蓝白黑青紫大小高低长短新旧快慢冷热明暗前后左右东西南北春夏秋冬早晚朝夕公司学校医院工作生活音乐电影旅行运动健康"
)


class Texts:
    """An endless, seeded source of texts, and of questions about the same topics."""

    def __init__(self, seed: int = 1) -> None:
        self._random = random.Random(seed)
        self._english, self._chinese, self._rare = _vocabulary()
        self._zipf = list(accumulate(1 / (rank + 1) for rank in range(_WORDS_PER_TOPIC)))

    def text(self) -> str:
        """A sentence of 15–30 words: half of them of one topic, one rare, the others common."""
        return self._sentence(self._random.randint(15, 30))

    def question(self) -> str:
        """A sentence of 6–10 words."""
        return self._sentence(self._random.randint(6, 10))

    def items(self, count: int) -> Iterator[dict[str, Any]]:
        """Arguments of `remember` for `count` memories, in the order in which they were said."""
        for number in range(count):
            yield {
                "text": self.text(),
                "kind": "event",
                "speaker": self._random.choice(_SPEAKERS),
                "conversation": f"conversation-{number // 40}",
                "at": _FIRST + _STEP * number,
                "ref": f"synthetic-{number}",
            }

    def _sentence(self, words: int) -> str:
        topic = self._random.randrange(_TOPICS)
        chinese = self._random.random() < 0.5
        own = self._chinese[topic] if chinese else self._english[topic]
        about = self._random.choices(own, cum_weights=self._zipf, k=words // 2)
        common = self._random.choices(_COMMON_ZH if chinese else _COMMON_EN, k=words - len(about) - 1)
        picked = [*about, *common, _chinese(self._random) if chinese else self._random.choice(self._rare)]
        self._random.shuffle(picked)
        return "".join(picked) + "。" if chinese else " ".join(picked).capitalize() + "."


@cache
def _vocabulary() -> tuple[list[list[str]], list[list[str]], list[str]]:
    """English and Chinese words by topic, and the rare ones: the same for every seed."""
    source = random.Random(0)
    english = [[_english(source) for _ in range(_WORDS_PER_TOPIC)] for _ in range(_TOPICS)]
    chinese = [[_chinese(source) for _ in range(_WORDS_PER_TOPIC)] for _ in range(_TOPICS)]
    return english, chinese, [_english(source) + _english(source) for _ in range(_RARE_WORDS)]


def _english(source: random.Random) -> str:
    return "".join(source.choices(_SYLLABLES, k=source.randint(2, 3))) + source.choice(_ENDINGS)


def _chinese(source: random.Random) -> str:
    return "".join(source.choices(_HAN, k=2))
