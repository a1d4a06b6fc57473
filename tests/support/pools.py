"""Pools of candidates as the tests of ranking need them."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from biem.domain.policies.ranking import RankPolicy, SignalWeights
from biem.engine.query.question import Query, Sentence
from biem.engine.recall.rank.pool import Candidate
from biem.engine.recall.rank.score import NAMES, Ranked, rank
from biem.ports import Vector
from tests.support.fakes import START

POLICY = RankPolicy()
OFF = SignalWeights(**dict.fromkeys(NAMES, 0.0))
SPEAKERS = {"Ann": ["ann"], "Bob": ["bob"], "assistant": ["assistant"], "": []}
X = "x"


def unit(*numbers: float) -> Vector:
    vector = np.array(numbers, dtype=np.float32)
    return vector / np.linalg.norm(vector)


NEAR, HALF, FAR, ASIDE = unit(1, 0, 0), unit(1, 1, 0), unit(-1, 0, 0.2), unit(0, 0, 1)


def turn(id_: str, text: str, seq: int, vector: Vector | None = ASIDE, **fields: Any) -> Candidate:
    named = {"speaker": "Ann", "conversation": "one", "at": START, **fields}
    return Candidate(id_, [*SPEAKERS[named["speaker"]], *text.split()], vector, seq=seq, **named)


def query(text: str, vector: Vector | None = NEAR, sentences: Sequence[Sentence] = ()) -> Query:
    return Query(text, text.lower().split(), vector, sentences)


def ranked(asked: Query, pool: Sequence[Candidate], policy: RankPolicy = POLICY, count: int = 20) -> Ranked:
    return rank(asked, pool, SPEAKERS, policy, count)


def ids(asked: Query, pool: Sequence[Candidate], policy: RankPolicy = POLICY, count: int = 20) -> list[str]:
    return [pool[index].id for index in ranked(asked, pool, policy, count).order]


HOTEL = query("paris hotel")
OTHERS = [turn("near", "a b c", 50, NEAR, conversation="two"), turn("far", "d e f", 60, FAR, conversation="three")]
