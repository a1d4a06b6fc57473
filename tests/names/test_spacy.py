"""Names through the real spaCy, with pipelines made here: `make test-names` installs it in its own environment.

The model is trained on some made-up messages and judged on others, with names it has never seen.
"""

import importlib
import importlib.util
import itertools
import random
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from biem.adapters.analyzers import RuleAnalyzer, build
from biem.errors import ConfigError
from biem.ports import Analyzer

if importlib.util.find_spec("spacy") is None:
    pytest.skip("spaCy is not installed here; run: make test-names", allow_module_level=True)

spacy: Any = importlib.import_module("spacy")
_Labelled = tuple[str, tuple[str, ...]]

PEOPLE = "anna,ben carter,mei,omar,lucy lee,tom,priya,jack,sofia,raj,emma,luis,nina,oscar,ivy,paul,zoe,karim,ella,hugo"
PLACES = "paris,tokyo,new york,berlin,oslo,lisbon,cairo,lima,austin,kyoto,rome,madrid,delhi,boston,seoul,vienna"
FRAMES = (
    "we flew to {place} with {person} last night",
    "{person} moved to {place} in may",
    "i met {person} at the gym today",
    "my sister loves {place} so much",
    "did you hear that {person} lives in {place} now",
    "yesterday {person} called me from {place}",
    "i told {person} about the trip to {place}",
    "lunch with {person} was fun",
)
OTHER_PEOPLE = "clara,dmitri,fatima,george,hana,ian"
OTHER_PLACES = "dublin,hanoi,turin,quito,prague,nairobi"
OTHER_FRAMES = (
    "we drove to {place} with {person} last week",
    "i met {person} at the office today",
    "my brother loves {place} so much",
    "yesterday {person} called me from {place}",
    "I told {person} about the flight to {place}.",
    "Dinner with {person} was fun, and {place} is lovely.",
)


def messages(
    frames: Sequence[str], people: str, places: str, count: int, *, write: Callable[[str], str]
) -> list[_Labelled]:
    """Messages with the names in them."""
    chosen = random.Random(7)
    out: list[_Labelled] = []
    for frame in itertools.islice(itertools.cycle(frames), count):
        person, place = write(chosen.choice(people.split(","))), write(chosen.choice(places.split(",")))
        names = tuple(name for slot, name in (("person", person), ("place", place)) if f"{{{slot}}}" in frame)
        out.append((frame.format(person=person, place=place), names))
    return out


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A pipeline whose recogniser learnt from messages in either spelling."""
    nlp = spacy.blank("en")
    nlp.add_pipe("ner")
    training = importlib.import_module("spacy.training")
    spacy.util.fix_random_seed(7)
    examples = []
    known = [one for write in (str, str.title) for one in messages(FRAMES, PEOPLE, PLACES, 80, write=write)]
    for text, names in known:
        entities = [(text.index(name), text.index(name) + len(name), "NAME") for name in names]
        examples.append(training.Example.from_dict(nlp.make_doc(text), {"entities": entities}))
    optimiser = nlp.initialize(lambda: examples)
    for _ in range(10):
        for start in range(0, len(examples), 10):
            nlp.update(examples[start : start + 10], sgd=optimiser, drop=0.2)
    folder = tmp_path_factory.mktemp("pipeline")
    nlp.to_disk(folder)
    return folder


@pytest.fixture
def listed(tmp_path: Path) -> str:
    """A pipeline of listed names."""
    nlp = spacy.blank("en")
    ruler = nlp.add_pipe("entity_ruler")
    ruler.add_patterns(
        [
            {"label": "PERSON", "pattern": [{"LOWER": "bell"}, {"LOWER": "hooks"}]},
            {"label": "ORG", "pattern": "kraftwerk"},
            {"label": "DATE", "pattern": "last summer"},
        ]
    )
    nlp.to_disk(tmp_path / "listed")
    return str(tmp_path / "listed")


def f1(analyzer: Analyzer, labelled: Sequence[_Labelled]) -> float:
    """Of names found and wanted, over all texts."""
    hits = found = wanted = 0
    for text, names in labelled:
        got = {name.casefold() for name in analyzer.analyze(text).fields.names}
        gold = {name.casefold() for name in names}
        hits, found, wanted = hits + len(got & gold), found + len(got), wanted + len(gold)
    return 2 * hits / (found + wanted)


@pytest.mark.req("A59")
def test_with_a_model_more_names_of_messages_are_found_and_hardly_more_that_are_none(trained: Path) -> None:
    # Given messages with names that neither the model nor a rule knows, in lower case and in proper spelling
    rules, model = RuleAnalyzer(), build(str(trained))
    chat = messages(OTHER_FRAMES, OTHER_PEOPLE, OTHER_PLACES, 30, write=str)
    letters = messages(OTHER_FRAMES, OTHER_PEOPLE, OTHER_PLACES, 30, write=str.title)

    # When both read them / Then the model finds what no capital gives away, and over all of them the better share
    assert f1(rules, chat) < 0.1
    assert f1(model, chat) > 0.5
    assert f1(model, [*chat, *letters]) > f1(rules, [*chat, *letters])


def test_a_pipeline_of_listed_names_works_from_its_folder(listed: str) -> None:
    # Given a folder that spaCy wrote / When a message is read / Then its listed names are there, and its dates are not
    found = build(listed).analyze("we talked about bell hooks and kraftwerk last summer").fields.names
    assert found == ("bell hooks", "kraftwerk")


def test_threads_share_a_pipeline(listed: str) -> None:
    # Given many threads with new words / When they read at the same time / Then each finds what is in its text
    model = build(listed)
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda n: model.analyze(f"word{n} other{n} by kraftwerk").fields.names, range(200)))
    assert set(found) == {("kraftwerk",)}


@pytest.mark.parametrize("pipeline", ["no_such_pipeline", "/nowhere/at/all"])
def test_a_pipeline_that_is_not_there_is_named(pipeline: str) -> None:
    with pytest.raises(ConfigError, match=pipeline):
        build(pipeline)


def test_a_pipeline_without_names_is_refused(tmp_path: Path) -> None:
    # Given a pipeline that only cuts sentences / When it shall find names / Then it is refused at the start
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    nlp.to_disk(tmp_path / "plain")
    with pytest.raises(ConfigError, match="no component that finds names"):
        build(str(tmp_path / "plain"))
