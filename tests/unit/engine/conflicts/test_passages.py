"""Of a long text the sentences that concern another text are compared."""

import pytest

from biem.adapters.contradiction.rules import RuleContradictions
from biem.domain.conflict import Statement
from biem.engine.conflicts.passages import compare, passages
from tests.support.fakes import START

RULES = RuleContradictions()
PAGES = {"en": "The meeting was long and nobody said much. " * 100, "zh": "会议很长，大家说得不多。" * 200}


@pytest.mark.parametrize(
    ("language", "sentence", "other"),
    [("en", "My sister lives in Rome.", "My sister lives in Oslo"), ("zh", "我妹妹住在罗马。", "我妹妹住在奥斯陆")],
)
@pytest.mark.parametrize("place", ["first", "middle", "last"])
def test_the_sentence_that_concerns_a_statement_is_found_wherever_it_stands(
    language: str, sentence: str, other: str, place: str
) -> None:
    pages, marked = PAGES[language], f"{sentence} "
    text = {"first": marked + pages, "middle": pages + marked + pages, "last": pages + sentence}[place]
    assert passages(text, other)[0] == sentence


def test_at_most_five_sentences_are_taken_and_none_that_shares_no_word() -> None:
    assert len(passages("Rome is old. " * 1_000, "Rome")) == 5
    assert passages("Rome is old. " * 1_000, "平常") == []


def test_what_has_no_full_stop_is_cut() -> None:
    assert 300 < max(map(len, passages("rome " * 10_000, "rome"))) <= 400


@pytest.mark.parametrize(
    ("older", "newer"), [("I live in Rome.", "I live in Oslo."), ("我住在罗马。", "我住在奥斯陆。")]
)
@pytest.mark.parametrize("long", ["older", "newer", "both"])
def test_a_verdict_on_a_long_text_is_about_its_sentence_and_partial(older: str, newer: str, long: str) -> None:
    # Given two statements that the rules act on, of which one or both stand in a long text
    assert compare(RULES, Statement(older, "Ann", START), Statement(newer, "Ann", START), 0.9, longest=2_000)
    pages = PAGES["zh" if older[0] == "我" else "en"]
    first = f"{pages}{older} {pages}" if long != "newer" else older
    second = f"{pages}{newer} {pages}" if long != "older" else newer

    # When these are compared / Then they disagree about the sentence alone
    verdict = compare(RULES, Statement(first, "Ann", START), Statement(second, "Ann", START), None, longest=2_000)
    assert verdict is not None
    assert verdict.partial
    assert verdict.kind != "duplicate"
    assert bool(verdict.claim) is (long != "newer")


def test_a_document_that_has_a_sentence_of_a_text_is_no_duplicate_of_it() -> None:
    text = "I live in Rome."
    verdict = compare(
        RULES, Statement(text, "Ann", START), Statement(PAGES["en"] + text, "Ann", START), None, longest=2_000
    )
    assert verdict is None
