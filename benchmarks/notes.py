"""How well biem finds notes, compared with BM25, the bare embedder and a plain Milvus hybrid search.

Each vault is written to a folder, added, synced and asked through the public API; the other systems get the same
sections, question by question in turns. The rank of a note is that of its best section. `R@k` counts the notes that
answer, `section_R@10` the sections. A question that is a heading of a file (`docs_*`) is removed from the file first.
`chain_share`: citations and headings over what is shown of all hits. `told`: the share of questions for which a block
would have notes at all, being sure enough; `told_R@5` counts only these, `silent` is the share without any among those
whose note is in the first five, and `told_foreign` the share among the questions of `--foreign`, which other notes
answer. `--policy NAME=VALUE` changes a number of the
ranking, such as `gamma=0`. With `--folder DIR` the data are lines of a text instead: the beginning of the name of one
of the folder's files and a question that this file answers (`benchmarks/collections/decisions.txt`).
"""

import argparse
import json
import sys
import tempfile
import time
import uuid
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from pymilvus import AnnSearchRequest, RRFRanker

import biem
from benchmarks import _report
from benchmarks._baselines import Bm25, Dense
from benchmarks._data import data_name
from benchmarks._embedders import PassageCache, choose_embedder
from benchmarks._hybrid import MilvusHybrid
from benchmarks._options import positive
from benchmarks._vaults import Section, Vault, read_folder, read_questions, read_vaults
from benchmarks.metrics import mean, new_gold, percentiles, recall_at, score
from biem.bootstrap import servers
from biem.config import Settings, load_settings
from biem.domain.notes.library import NoteHits
from biem.domain.policies.jobs import SleepPolicy
from biem.domain.policies.notes import NoteRankPolicy

SYSTEMS = ("bm25", "dense", "hybrid", "biem")
_DEEP = 100
"""Sections asked for, so that twenty notes are among them."""
_COLUMNS = (
    *("data", "system", "n", "R@5", "R@10", "R@20", "nDCG@10", "MRR", "section_R@10", "p50_ms", "p95_ms"),
    *("told", "told_R@5", "silent", "told_foreign", "chain_share", "sections"),
)
_RRF_K = 60
_FOREIGN = 30
"""Questions of each foreign file that are asked."""


class NoteSystem(Protocol):
    """What is compared."""

    @property
    def name(self) -> str:
        """How reports call it."""

    def load(self, vault: Vault) -> None:
        """Index a vault."""

    def find(self, vault: Vault, question: str) -> list[str]:
        """Ids of sections, best first. This call is what is timed."""


@dataclass
class SectionBm25:
    """BM25 over the sections."""

    name: str = "bm25"
    inner: Bm25 = field(default_factory=Bm25)

    def load(self, vault: Vault) -> None:
        """One index a vault."""
        self.inner.load(vault.conversation())

    def find(self, vault: Vault, question: str) -> list[str]:
        """Ties keep the order of the sections."""
        index = self.inner._indexes[vault.id]
        words = [word for word in self.inner.tokens(question) if word in index.vocab_dict]
        if not words:
            return []
        scores = index.get_scores(words)
        return [vault.sections[place].id for place in np.argsort(-scores, kind="stable")[:_DEEP] if scores[place] > 0]


class SectionDense:
    """The bare embedder with exact cosine over the sections."""

    name = "dense"

    def __init__(self, embedder: PassageCache) -> None:
        self._embedder = embedder
        self._inner = Dense(embedder)

    def load(self, vault: Vault) -> None:
        """All vectors in one call."""
        self._inner.load(vault.conversation())

    def find(self, vault: Vault, question: str) -> list[str]:
        """Ties keep the order of the sections."""
        scores = self._inner._vectors[vault.id] @ self._embedder.embed([question], "query")[0]
        return [vault.sections[place].id for place in np.argsort(-scores, kind="stable")[:_DEEP]]


class SectionHybrid:
    """Milvus' hybrid search over the sections."""

    name = "hybrid"

    def __init__(self, inner: MilvusHybrid, embedder: PassageCache) -> None:
        self._inner = inner
        self._embedder = embedder

    def load(self, vault: Vault) -> None:
        """Insert all sections."""
        self._inner.load(vault.conversation())
        self._inner.ready()

    def find(self, vault: Vault, question: str) -> list[str]:
        """One `hybrid_search` call, as deep as the others look."""
        vector = self._embedder.embed([question], "query")[0]
        where = f"conversation == {json.dumps(vault.id, ensure_ascii=False)}"
        found = self._inner._client.hybrid_search(
            self._inner._collection,
            [
                AnnSearchRequest([vector], "dense", {"metric_type": "COSINE"}, limit=_DEEP, expr=where),
                AnnSearchRequest([question], "sparse", {"metric_type": "BM25"}, limit=_DEEP, expr=where),
            ],
            RRFRanker(_RRF_K),
            limit=_DEEP,
            output_fields=["turn"],
        )
        return [str(hit["entity"]["turn"]) for hit in found[0]]


class BiemNotes:
    """`memory.notes` of one user a vault."""

    name = "biem"

    def __init__(self, memory: biem.Memory, folder: Path) -> None:
        self._memory = memory
        self._folder = folder
        self._tenant = f"benchmark-{uuid.uuid4().hex[:12]}"
        self.shown = self.chain = 0
        self._last = ("", NoteHits())

    def load(self, vault: Vault) -> None:
        """Write the files, add the folder, sync it."""
        root = self._folder / uuid.uuid4().hex
        for path, text in vault.files.items():
            file = root / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
        notes = self._memory.scope(tenant=self._tenant, user=vault.id).notes
        notes.add(root, name="vault")
        report = notes.sync()
        if report.pending:
            raise SystemExit(f"{report.pending} notes could not be indexed")

    @property
    def is_told(self) -> bool:
        """Whether a block would have the notes of the last question."""
        return bool(self._memory._system.context_builder.sure_notes(*self._last))

    def find(self, vault: Vault, question: str) -> list[str]:
        """The sections that begin within the lines of each hit; none for an empty question, which biem refuses."""
        if not question.strip():
            return []
        hits = self._memory.scope(tenant=self._tenant, user=vault.id).notes.search(question, top_k=_DEEP)
        self._last = (question, hits)
        self.shown += sum(len(hit.chunk.body) + len(hit.citation) for hit in hits[:5])
        self.chain += sum(len(hit.citation) for hit in hits[:5])
        by_note = _by_note(vault)
        found: dict[str, None] = {}
        for hit in hits:
            first, last = hit.chunk.lines
            for section in by_note[vault.note_of[hit.note.path]]:
                if section.line <= last and first <= section.line + max(1, section.text.count("\n")):
                    found[section.id] = None
        return list(found)


_SECTIONS: dict[str, dict[str, list[Section]]] = {}


def _by_note(vault: Vault) -> dict[str, list[Section]]:
    if vault.id not in _SECTIONS:
        grouped: dict[str, list[Section]] = {}
        for section in vault.sections:
            grouped.setdefault(section.note, []).append(section)
        _SECTIONS[vault.id] = grouped
    return _SECTIONS[vault.id]


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line."""
    options = _options(arguments)
    rows: list[dict[str, object]] = []
    for file in options.data:
        rows += measure(file, options)
        if options.json:
            line = _report.command("benchmarks.notes", sys.argv[1:] if arguments is None else arguments)
            _report.write_json(options.json, line, rows)
    _report.print_table("Notes", _COLUMNS, rows)
    return 0


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser("python -m benchmarks.notes", description=__doc__)
    parser.add_argument("--data", nargs="+", type=Path, required=True, metavar="FILE", help="vaults, .jsonl[.gz]")
    parser.add_argument("--folder", type=Path, metavar="DIR", help="the notes; the data are then lines of questions")
    parser.add_argument("--systems", nargs="+", choices=SYSTEMS, default=list(SYSTEMS))
    parser.add_argument("--json", type=Path, metavar="OUT", help="write the rows there, too")
    parser.add_argument("--limit-vaults", type=positive, metavar="N", help="only the first N of each file")
    parser.add_argument("--limit-notes", type=positive, metavar="N", help="only the first N of each vault")
    parser.add_argument("--limit-questions", type=positive, metavar="N", help="only the first N of each vault")
    parser.add_argument("--embedder", default="e5", help="synthetic, or a provider as in the settings (default: e5)")
    parser.add_argument("--cache", type=Path, metavar="DIR", help="keep the vectors of passages there")
    parser.add_argument(
        "--foreign", nargs="+", type=Path, default=[], metavar="FILE", help="questions that the data does not answer"
    )
    parser.add_argument(
        "--policy",
        nargs="+",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="numbers of the ranking; given several times, each is a further row of biem",
    )
    return parser.parse_args(arguments)


def measure(file: Path, options: argparse.Namespace) -> list[dict[str, object]]:
    """The rows of one file."""
    if options.folder is not None:
        vaults = [read_folder(file, options.folder)]
    else:
        vaults = list(read_vaults(file, options.limit_vaults, options.limit_questions, options.limit_notes))
    rows = []
    with _built(options, vaults[0].lang) as (systems, memory):
        for system in systems:
            for vault in vaults:
                began = time.perf_counter()
                system.load(vault)
                took = time.perf_counter() - began
                print(f"{system.name} {vault.id}: {len(vault.sections)} sections in {took:.1f} s", file=sys.stderr)
        foreign = [question for path in options.foreign for question in read_questions(path, _FOREIGN)]
        rows += [_asked(data_name(file), system, system.name, vaults, foreign) for system in systems]
        for own in (system for system in systems if isinstance(system, BiemNotes) and memory is not None):
            assert memory is not None
            searcher = memory._system.notes.searcher
            usual = searcher._policy
            for change in options.policy:
                searcher._policy = changed(usual, change)
                rows.append(_asked(data_name(file), own, f"biem {' '.join(change)}", vaults, foreign))
            searcher._policy = usual
    return rows


def changed(policy: NoteRankPolicy, change: Sequence[str]) -> NoteRankPolicy:
    """The policy with other numbers, each as NAME=VALUE."""
    values = {name: json.loads(value) for name, _, value in (each.partition("=") for each in change)}
    return replace(policy, **values)


def _asked(
    data: str, system: NoteSystem, name: str, vaults: Sequence[Vault], foreign: Sequence[str]
) -> dict[str, object]:
    scores, in_sections, times, told, silent = [], [], [], [], list[bool]()
    if isinstance(system, BiemNotes):
        system.shown = system.chain = 0
    for vault in vaults:
        note_of = {section.id: section.note for section in vault.sections}
        system.find(vault, "warm up 热身")
        for question in vault.questions:
            began = time.perf_counter()
            found = system.find(vault, question.text)
            times.append((time.perf_counter() - began) * 1_000)
            notes = list(dict.fromkeys(note_of[key] for key in found))
            groups = [frozenset([note]) for note in question.notes]
            scores.append(score(notes, groups, {}, frozenset()))
            if isinstance(system, BiemNotes):
                among = recall_at(5, new_gold(notes[:5], groups), len(groups))
                told.append(among if system.is_told else None)
                if among:
                    silent.append(not system.is_told)
            if question.sections:
                wanted = [frozenset([key]) for key in question.sections]
                in_sections.append(recall_at(10, new_gold(found[:10], wanted), len(wanted)))
    row = {"data": data, "system": name, "n": len(scores), **mean(scores).as_row(), **percentiles(times, 50, 95)}
    row["section_R@10"] = sum(in_sections) / len(in_sections) if in_sections else None
    row["sections"] = sum(len(vault.sections) for vault in vaults)
    if isinstance(system, BiemNotes) and system.shown:
        row["chain_share"] = system.chain / system.shown
        row["told"] = sum(one is not None for one in told) / len(told)
        row["told_R@5"] = sum(one or 0.0 for one in told) / len(told)
        row["silent"] = sum(silent) / len(silent) if silent else None
        if foreign:
            row["told_foreign"] = _told_share(system, vaults, foreign)
    return row


def _told_share(system: BiemNotes, vaults: Sequence[Vault], questions: Sequence[str]) -> float:
    told = 0
    for vault in vaults:
        for question in questions:
            system.find(vault, question)
            told += system.is_told
    return told / (len(vaults) * len(questions))


@contextmanager
def _built(
    options: argparse.Namespace, lang: str
) -> Iterator[tuple[list[SectionBm25 | SectionDense | SectionHybrid | BiemNotes], biem.Memory | None]]:
    """The systems, in a fresh temporary home unless the settings name servers."""
    with ExitStack() as stack:
        home = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="biem-bench-", ignore_cleanup_errors=True)))
        alone: dict[str, Any] = {"home": home, "queue": "none", "sleep": SleepPolicy(off=("notes",))}
        settings: Settings = load_settings().model_copy(update=alone)
        systems: list[SectionBm25 | SectionDense | SectionHybrid | BiemNotes] = []
        memory = None
        if set(options.systems) - {"bm25"}:
            embedder = PassageCache(choose_embedder(options.embedder, settings), options.cache)
            stack.enter_context(closing(embedder))
        if set(options.systems) & {"hybrid", "biem"}:
            where = stack.enter_context(servers(settings))
            memory = stack.enter_context(biem.connect(settings, embedder=embedder))
        for name in options.systems:
            if name == "bm25":
                systems.append(SectionBm25())
            elif name == "dense":
                systems.append(SectionDense(embedder))
            elif name == "hybrid":
                collection = f"benchmark_hybrid_{uuid.uuid4().hex[:12]}"
                inner = stack.enter_context(closing(MilvusHybrid(where, embedder, lang, collection)))
                systems.append(SectionHybrid(inner, embedder))
            elif memory is not None:
                systems.append(BiemNotes(memory, home / "vaults"))
        yield systems, memory


if __name__ == "__main__":
    sys.exit(main())
