"""What the packaged embedders cost, and what centring does: the numbers of docs/adr/0014.

`python -m benchmarks.embedders` compares the two engines of e5, and USE, on sentences packaged here.
`--data FILE …` adds R@10 with raw and with centred vectors, alone and fused half and half with BM25 (both scaled by
minimum and maximum). `--mixed ZH EN` does so for questions whose answer is in the other language of one store: the two
files hold the same conversations, whose ids differ only in the language's code.
"""

import argparse
import re
import sys
import time
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

import bm25s
import numpy as np
from numpy.typing import NDArray

from benchmarks import _report
from benchmarks._baselines import Bm25
from benchmarks._data import Conversation, Question, data_name, read_conversations
from benchmarks.metrics import new_gold, recall_at
from biem.adapters.embedders import calibration
from biem.adapters.embedders.calibration import Calibration
from biem.adapters.embedders.e5 import CEngine, E5Encoder, OnnxEngine
from biem.adapters.embedders.encoder import Encoder, clean
from biem.adapters.embedders.use_multilingual import UseEncoder
from biem.ports import Role, Vectors

_ROUNDS = 3
_LONG = 8
"""Sentences in a long text: about 190 tokens."""
_LANGUAGE = re.compile(r"_(zh|en)(?=_|$)")


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", nargs="+", type=Path, default=[], help="conversation files")
    parser.add_argument("--mixed", nargs=2, type=Path, metavar=("ZH", "EN"), help="the same conversations twice")
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args(arguments)
    encoders: dict[str, Encoder] = {
        "e5 onnxruntime": E5Encoder(options.threads, OnnxEngine),
        "e5 C engine": E5Encoder(options.threads, CEngine),
        "use": UseEncoder(1),
    }
    speeds = [{"system": name} | speed(encoder) for name, encoder in encoders.items()]
    _report.print_table("Cost", ["system", "short/s", "long/s", "p50_ms", "p95_ms"], speeds)
    print(f"smallest cosine between the engines: {agreement(*list(encoders.values())[:2]):.5f}\n")
    rows: list[dict[str, object]] = []
    for name in ("e5 onnxruntime", "use"):
        for path in options.data:
            conversations = list(read_conversations(path))
            rows.append({"data": data_name(path), "system": name} | recall(encoders[name], conversations))
        if options.mixed:
            for title, stores in mixed(*options.mixed):
                rows.append({"data": title, "system": name} | recall(encoders[name], stores))
    if rows:
        columns = ["data", "system", "n", "bm25", "raw", "centred", "raw+bm25", "centred+bm25"]
        _report.print_table("R@10", columns, rows)
    return 0


def _texts() -> tuple[list[str], list[str]]:
    short = [text for row in calibration.sentences().pairs for text in row]
    return short, [" ".join(short[start : start + _LONG]) for start in range(0, len(short), _LONG)]


def speed(encoder: Encoder) -> dict[str, float]:
    """Texts a second in one call, and milliseconds of a query alone; the best of several rounds."""
    short, long = _texts()
    encoder.encode(short[:8], "passage")
    rates: dict[str, float] = {"short/s": 0, "long/s": 0}
    times = []
    for _ in range(_ROUNDS):
        for name, texts in (("short/s", short), ("long/s", long)):
            started = time.perf_counter()
            encoder.encode(texts, "passage")
            rates[name] = max(rates[name], len(texts) / (time.perf_counter() - started))
        for text in short[::6]:
            started = time.perf_counter()
            encoder.encode([text], "query")
            times.append((time.perf_counter() - started) * 1e3)
    p50, p95 = np.percentile(times, (50, 95))
    return rates | {"p50_ms": float(p50), "p95_ms": float(p95)}


def agreement(one: Encoder, other: Encoder) -> float:
    """The smallest cosine between two models' vectors of the same text."""
    short, long = _texts()
    texts = short + long
    return float(np.min(np.sum(one.encode(texts, "passage") * other.encode(texts, "passage"), axis=1)))


def mixed(chinese: Path, english: Path) -> list[tuple[str, list[Conversation]]]:
    """Stores that hold a conversation in both languages, asked for the turns in the other language."""
    found = [{_LANGUAGE.sub("", c.id): c for c in read_conversations(path)} for path in (chinese, english)]
    shared = sorted(found[0].keys() & found[1].keys())
    zh, en = ([side[key] for key in shared] for side in found)
    return [("zh asks, en in a mixed store", _cross(en, zh)), ("en asks, zh in a mixed store", _cross(zh, en))]


def _cross(answers: Sequence[Conversation], questions: Sequence[Conversation]) -> list[Conversation]:
    """Evidence keeps its ids, which are the same in both languages; the asking language's own turns are renamed."""
    stores = []
    for answering, asking in zip(answers, questions, strict=True):
        own = tuple(replace(turn, id=f"own {turn.id}") for turn in asking.turns)
        known = {turn.id for turn in answering.turns}
        asked = tuple(q for q in asking.questions if all(group <= known for group in q.groups))
        stores.append(replace(answering, turns=answering.turns + own, questions=asked))
    return stores


def recall(encoder: Encoder, conversations: Iterable[Conversation]) -> dict[str, object]:
    """R@10 of each way to rank."""
    constants = calibration.obtain(encoder, Path("unused"))
    gains: dict[str, list[float]] = {}
    for conversation in conversations:
        if not conversation.questions:
            continue
        words = _word_scores(conversation)
        raw, centred = _cosines(encoder, constants, conversation)
        for number, question in enumerate(conversation.questions):
            ways = {
                "bm25": words[number],
                "raw": raw[number],
                "centred": centred[number],
                "raw+bm25": _scaled(raw[number]) + _scaled(words[number]),
                "centred+bm25": _scaled(centred[number]) + _scaled(words[number]),
            }
            for way, scores in ways.items():
                gains.setdefault(way, []).append(_recall(scores, conversation, question))
    return {"n": len(gains["bm25"])} | {way: float(np.mean(values)) for way, values in gains.items()}


def _cosines(encoder: Encoder, constants: Calibration, conversation: Conversation) -> tuple[Vectors, Vectors]:
    """Questions times turns, with raw and with centred vectors."""
    sides: dict[Role, list[str]] = {
        "query": [clean(question.text) for question in conversation.questions],
        "passage": [clean(turn.indexed_text) for turn in conversation.turns],
    }
    raw = {role: encoder.encode(texts, role) for role, texts in sides.items()}
    centred = {role: constants.centre(raw[role], texts, role) for role, texts in sides.items()}
    return raw["query"] @ raw["passage"].T, centred["query"] @ centred["passage"].T


def _word_scores(conversation: Conversation) -> Vectors:
    tokens = Bm25().tokens
    index = bm25s.BM25(method="lucene", k1=1.5, b=0.75)
    index.index([tokens(turn.indexed_text) or [""] for turn in conversation.turns], show_progress=False)
    rows = np.zeros((len(conversation.questions), len(conversation.turns)), dtype=np.float32)
    for number, question in enumerate(conversation.questions):
        words = [word for word in tokens(question.text) if word in index.vocab_dict]
        if words:
            rows[number] = index.get_scores(words)
    return rows


def _scaled(scores: NDArray[np.float32]) -> NDArray[np.float32]:
    low, high = scores.min(), scores.max()
    return (scores - low) / (high - low) if high > low else np.zeros_like(scores)


def _recall(scores: NDArray[np.float32], conversation: Conversation, question: Question) -> float:
    order = np.argsort(-scores[: question.before], kind="stable")[:10]
    ranked = [conversation.turns[position].id for position in order]
    return recall_at(10, new_gold(ranked, question.groups), len(question.groups))


if __name__ == "__main__":
    sys.exit(main())
