"""Options that several benchmarks share."""

import argparse
from pathlib import Path

from benchmarks.lives.grammar import SPLITS


def positive(text: str) -> int:
    """A whole number from 1."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a positive number")
    return int(text)


def on_lives(parser: argparse.ArgumentParser, *, lives: int) -> None:
    """The options of every benchmark that makes lives; `lives`: how many unless told otherwise."""
    parser.add_argument("--lang", choices=("en", "zh", "mixed"), default="en", help="of the lives (default: en)")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="of the generator (default: 0)")
    parser.add_argument("--split", choices=SPLITS, default="dev", help="which templates and values (default: dev)")
    parser.add_argument("--lives", type=int, default=lives, metavar="K", help=f"so many (default: {lives})")


def on_conversations(parser: argparse.ArgumentParser, *, kept: str = "the vectors of passages") -> None:
    """The options of every benchmark that asks conversations; `kept`: what `--cache` keeps."""
    parser.add_argument(
        "--data", nargs="+", type=Path, required=True, metavar="FILE", help="conversations, .jsonl[.gz]"
    )
    parser.add_argument("--json", type=Path, metavar="OUT", help="write the rows there, too")
    parser.add_argument("--limit-conversations", type=positive, metavar="N", help="only the first N of each file")
    parser.add_argument("--limit-questions", type=positive, metavar="N", help="only the first N of each conversation")
    parser.add_argument("--embedder", default="e5", help="synthetic, or a provider as in the settings (default: e5)")
    parser.add_argument("--cache", type=Path, metavar="DIR", help=f"keep {kept} there for the next run")
