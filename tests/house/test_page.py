"""The files of the page: whose they are, that both dictionaries say the same, and that no text becomes markup."""

import hashlib
import json
import re
from collections.abc import Iterable
from dataclasses import fields
from html.parser import HTMLParser
from pathlib import Path
from typing import get_args

import pytest

import biem
from biem.domain.access.key import Grant
from biem.domain.conflict import _ATTRIBUTES, ConflictKind, ConflictStatus, Decider, Resolution
from biem.domain.link import LinkType
from biem.domain.node import Kind, Layer, Status, Tier
from biem.domain.policies.ranking import SignalWeights
from biem.domain.sessions.session import Role, SessionStatus
from biem.domain.trust import LEVELS, ORIGINS
from biem.engine.context.block import Omission
from biem.engine.recall import hits
from biem.engine.recall.rank.reasons import _PHRASES
from biem.server import page

FILES = Path(biem.__file__).parent / "server" / "page" / "files"
VENDOR = FILES / "vendor"
OWN = sorted(
    path for path in FILES.rglob("*.*") if path.suffix in (".js", ".html", ".css") and VENDOR not in path.parents
)
WORDS = {language: json.loads((FILES / "words" / f"{language}.json").read_text("utf-8")) for language in page.LANGUAGES}

KINDS = re.compile(r'\bterm\("(\w+)"')
VALUES = re.compile(r"\{\w+\}")


class Inline(HTMLParser):
    """What a page has in itself that a strict policy forbids."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self._within = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._within = tag
        self.found += [name for name, _ in attrs if name.startswith("on") or name == "style"]

    def handle_data(self, data: str) -> None:
        if self._within in ("script", "style") and data.strip():
            self.found.append(data)


def test_every_file_of_others_is_as_published_with_version_and_licence() -> None:
    # Given the manifest / When each file is hashed / Then it is the one listed, and there is no other
    listed: dict[str, str] = {}
    for package in json.loads((VENDOR / "manifest.json").read_text("utf-8")):
        assert re.fullmatch(r"\d+\.\d+\.\d+", package["version"])
        assert package["licence"] == "MIT"
        assert any(name.startswith("LICENSE.") for name in package["files"]), package["package"]
        listed |= package["files"]
    there = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in VENDOR.iterdir()}
    del there["manifest.json"]
    assert there == listed


def test_both_dictionaries_have_the_same_names_and_values() -> None:
    english, chinese = WORDS["en"], WORDS["zh"]
    assert english.keys() == chinese.keys()
    for name, text in english.items():
        assert text.strip(), name
        assert chinese[name].strip(), name
        assert sorted(VALUES.findall(text)) == sorted(VALUES.findall(chinese[name])), name


def test_no_text_was_left_in_the_other_language() -> None:
    chinese_signs = re.compile("[\u3000-\u9fff\uff00-\uffef]")
    left = re.compile(r"[A-Za-z]{2,}")
    for name, text in WORDS["zh"].items():
        assert chinese_signs.search(text), name
        assert set(left.findall(VALUES.sub("", text))) <= {"biem", "keys", "notes", "add", "serve"}, name
    assert [name for name, text in WORDS["en"].items() if chinese_signs.search(text)] == []


def test_every_value_of_the_api_that_has_a_word_has_one_in_each_language() -> None:
    # Given the values that the API may answer with / When the page names them / Then there is a word, not the value
    values: dict[str, Iterable[str]] = {
        "kind": get_args(Kind),
        "layer": get_args(Layer),
        "tier": get_args(Tier),
        "trust": LEVELS,
        "origin": ORIGINS,
        "status": get_args(Status),
        "session": get_args(SessionStatus),
        "grant": get_args(Grant),
        "role": get_args(Role),
        "link": get_args(LinkType),
        "conflict": (*get_args(ConflictKind), *get_args(ConflictStatus)),
        "decision": get_args(Resolution),
        "decider": get_args(Decider),
        "omitted": get_args(Omission),
        "attribute": (english for english, _ in _ATTRIBUTES),
        "signal": (field.name for field in fields(SignalWeights)),
    }
    missing = [f"{kind}_{value}" for kind, known in values.items() for value in known]
    assert [name for name in missing if name not in WORDS["en"]] == []


def test_every_signal_that_a_hit_is_given_has_a_word_and_no_place_among_the_effects() -> None:
    # Given the names under which recall writes numbers that are no weighted signals / Then the page lists them as such
    source = Path(hits.__file__).read_text("utf-8")
    written = set(re.findall(r'why\["(\w+)"\] = ', source))
    search = (FILES / "views" / "search.js").read_text("utf-8")
    measured = json.loads(re.search(r"const MEASURED = (\[.+\]);", search)[1])  # type: ignore[index]
    assert "likeness" in written
    assert written - set(measured) == set()
    assert {f"signal_{name}" for name in measured} - WORDS["en"].keys() == set()


@pytest.mark.parametrize("language", page.LANGUAGES)
def test_the_reasons_of_a_recall_are_known_word_for_word_so_that_the_page_can_translate_them(language: str) -> None:
    written = {f"reason_{name}": text.replace("{}", "{words}") for name, text in _PHRASES[language].items()}
    assert {name: text for name, text in WORDS[language].items() if name.startswith("reason_")} == written
    assert len(set(written.values())) == len(written)


def test_every_text_that_the_page_shows_is_in_the_dictionary_and_none_is_left_over() -> None:
    # Given the names in the modules and the page / Then each has a text, and each text a use
    source = "".join(path.read_text("utf-8") for path in OWN)
    used = _literal(source)
    kinds = ("view_", "reason_", *(f"{kind}_" for kind in KINDS.findall(source)))
    assert _literal(source) <= WORDS["en"].keys()
    unused = [
        name for name in WORDS["en"] if name not in used and f'"{name}"' not in source and not name.startswith(kinds)
    ]
    assert unused == []
    views = set(re.findall(r"^const (?:VIEWS|OTHERS) = \{ ([\w, ]+) \}", source, re.MULTILINE)[0].split(", "))
    assert {f"view_{view}" for view in views} <= WORDS["en"].keys()


def _literal(source: str) -> set[str]:
    """The names that stand alone in a call or an attribute."""
    return set(re.findall(r'\bt\(\s*"(\w+)"', source)) | set(re.findall(r'data-t="(\w+)"', source))


@pytest.mark.parametrize("path", OWN, ids=lambda path: path.name)
def test_no_text_becomes_markup_and_nothing_comes_from_elsewhere(path: Path) -> None:
    source = path.read_text("utf-8")
    markup = r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|DOMParser|\beval\(|new Function|\.srcdoc|setHTML"
    assert not re.search(markup, source)
    assert not re.search(r"""https?://|url\(|@import|["'`]//""", source)
    assert not re.search(r"document\.cookie|localStorage\.setItem\(KEY", source)


def test_the_page_has_no_inline_script_or_style() -> None:
    parser = Inline()
    parser.feed((FILES / "index.html").read_text("utf-8"))
    assert parser.found == []
