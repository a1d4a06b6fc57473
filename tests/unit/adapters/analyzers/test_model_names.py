"""Names that a model adds to those of the rules."""

import sys
from collections.abc import Iterable

import pytest

from biem.adapters.analyzers import RuleAnalyzer, build
from biem.adapters.analyzers.model_names import ModelNames
from biem.errors import MissingExtra

RULES = RuleAnalyzer()


def reader(*found: tuple[str, str], language: str = "en") -> ModelNames:
    """A model that finds the same in every text."""

    def read(text: str) -> Iterable[tuple[str, str]]:
        return found

    return ModelNames(RULES, read, language)


@pytest.mark.req("A59", partly="the F1 with a trained model is in tests/names")
def test_names_that_no_capital_letter_gives_away_are_added_after_those_of_the_rules() -> None:
    # Given a message in lower case, of which the rules read one name
    text = "we flew to tokyo with Anna last night"
    assert RULES.analyze(text).entities == ("Anna",)

    # When a model reads it, too / Then its name comes after, as field and as entity, and nothing else has changed
    found = reader(("tokyo", "GPE"), ("Anna", "PERSON")).analyze(text)
    assert found.entities == found.fields.names == ("Anna", "tokyo")
    assert found.fields.numbers == RULES.analyze(text).fields.numbers
    assert (found.language, found.sentiment) == (RULES.analyze(text).language, RULES.analyze(text).sentiment)


@pytest.mark.parametrize(
    ("written", "label"),
    [
        ("last night", "DATE"),
        ("Anna Smith", "PERSON"),
        ("ann", "PERSON"),
        ("x", "ORG"),
        ("the ", "ORG"),
        ("n" * 65, "ORG"),
    ],
    ids=["a time", "around a known name", "inside a known name", "one letter", "nothing left", "too long"],
)
def test_what_is_no_name_or_is_known_is_not_added(written: str, label: str) -> None:
    # Given a text with one name / When a model finds this besides / Then the rules' name stands alone
    assert reader((written, label)).analyze("we saw Anna last night").entities == ("Anna",)


@pytest.mark.parametrize(
    ("written", "name"),
    [("the bank of america's", "bank of america"), ("“berkeley,”", "berkeley"), ("new  york", "new  york")],
)
def test_a_name_is_bared_of_article_genitive_and_marks(written: str, name: str) -> None:
    assert reader((written, "ORG")).analyze("they called about my card").entities == (name,)


@pytest.mark.parametrize(("language", "heard"), [("en", False), ("zh", True), ("xx", True)])
def test_a_model_reads_only_its_own_language(language: str, heard: bool) -> None:
    # Given a Chinese message / When a model of some language may read it / Then it is asked for its own only
    found = reader(("阿尔法狗", "PERSON"), language=language).analyze("昨天又聊到了阿尔法狗下棋的事")
    assert ("阿尔法狗" in found.entities) == heard


def test_index_terms_and_keywords_are_those_of_the_rules() -> None:
    text = "we flew to tokyo last night"
    model = reader(("tokyo", "GPE"))
    assert model.lexemes(text) == RULES.lexemes(text)
    assert model.keywords(text, 5) == RULES.keywords(text, 5)


def test_only_the_beginning_of_a_long_text_is_read() -> None:
    # Given a document / When it is analysed / Then the model is handed no more than it reads in a moment
    lengths: list[int] = []

    def read(text: str) -> Iterable[tuple[str, str]]:
        lengths.append(len(text))
        return ()

    ModelNames(RULES, read, "en").analyze("nothing new here. " * 3_000)
    assert lengths == [20_000]


def test_without_a_pipeline_the_rules_read_alone() -> None:
    assert isinstance(build(), RuleAnalyzer)


def test_a_missing_spacy_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    # Given a machine without spaCy / When a pipeline is wanted / Then the error names the extra
    monkeypatch.setitem(sys.modules, "spacy", None)
    with pytest.raises(MissingExtra, match=r"biem\[names\]"):
        build("en_core_web_sm")
