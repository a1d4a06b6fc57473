"""What is recognised as worth keeping in conversations, and what does it cost?

Every message of the files is read as if the user had said it, but for those of the speakers that `--without` names:
`--without assistant ai` leaves the user's own. `units`: share of messages with at least one; `core`: with one for the
layer core; `core_sent`: share of sentences that are core, which must stay below 2 % of ordinary chat, habits and orders
included. Times are for one message, rules only.
"""

import argparse
import sys
import time
from collections import Counter
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

from benchmarks import _report
from benchmarks._data import data_name, read_conversations
from benchmarks._options import positive
from benchmarks.metrics import percentiles
from biem.domain.merging import sentences
from biem.domain.observing.category import BUILT_IN
from biem.domain.observing.rules import recognise

_RULES = ("habit", "order", "persona", "like", "decision", "project", "knowledge", "task", "note", "skill", "feeling")
_COLUMNS = ("data", "n", "units", "core", "sentences", "core_sent", "p50_ms", "p95_ms", *_RULES)


def measured(path: Path, show: int, without: Collection[str] = ()) -> dict[str, Any]:
    """One line of the table; prints the first `show` sentences of each rule."""
    rules, times, messages, kept, core, said, core_said = Counter[str](), [], 0, 0, 0, 0, 0
    for conversation in read_conversations(path):
        for turn in conversation.turns:
            if turn.speaker.casefold() in without:
                continue
            start = time.perf_counter()
            units = list(recognise(turn.text, BUILT_IN))
            times.append((time.perf_counter() - start) * 1e3)
            messages += 1
            kept += bool(units)
            core += any(unit.layer == "core" for unit in units)
            said += len(sentences(turn.text))
            core_said += sum(unit.layer == "core" for unit in units)
            for unit in units:
                rules[unit.rule] += 1
                if rules[unit.rule] <= show:
                    print(f"{unit.rule:<10} {unit.level:<8} {unit.text}")
    shares: dict[str, Any] = {"units": round(kept / max(1, messages), 4), "core": round(core / max(1, messages), 4)}
    shares |= {"sentences": said, "core_sent": round(core_said / max(1, said), 5)}
    found = {name: round(value, 3) for name, value in percentiles(times, 50, 95).items()}
    return {"data": data_name(path), "n": messages, **shares, **found, **{name: rules[name] for name in _RULES}}


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.observe", description=__doc__)
    parser.add_argument(
        "--data", nargs="+", type=Path, required=True, metavar="FILE", help="conversations, .jsonl[.gz]"
    )
    parser.add_argument("--show", type=positive, default=0, metavar="N", help="print N sentences of each rule")
    parser.add_argument("--without", nargs="+", default=[], metavar="SPEAKER", help="leave out what these speakers say")
    parser.add_argument("--json", type=Path, metavar="OUT", help="write the rows there, too")
    options = parser.parse_args(arguments)
    rows = [measured(path, options.show, {name.casefold() for name in options.without}) for path in options.data]
    _report.print_table("Statements worth keeping", _COLUMNS, rows)
    if options.json:
        given = sys.argv[1:] if arguments is None else arguments
        _report.write_json(options.json, _report.command("benchmarks.observe", given), rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
