"""Counting tokens: the estimate, a vocabulary in a file, a function of the caller."""

from pathlib import Path

import pytest
from tokenizers import Tokenizer, models, pre_tokenizers, processors

from biem.adapters.tokens import counter_of
from biem.domain.tokens import estimate_tokens
from biem.errors import ConfigError


@pytest.fixture
def vocabulary(tmp_path: Path) -> Path:
    """A tokenizer of whole words and single Chinese characters, which cuts at three tokens and frames what it reads."""
    words = ["[UNK]", "[B]", "[E]", "red", "lamp", "记", "忆"]
    tokenizer = Tokenizer(models.WordLevel({word: number for number, word in enumerate(words)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.TemplateProcessing("[B] $A [E]", special_tokens=[("[B]", 1), ("[E]", 2)])
    tokenizer.enable_truncation(3)
    tokenizer.enable_padding(length=8)
    path = tmp_path / "tokenizer.json"
    tokenizer.save(str(path))
    return path


def test_without_anything_tokens_are_estimated() -> None:
    assert counter_of(None) is estimate_tokens


@pytest.mark.parametrize("as_text", [True, False])
def test_a_vocabulary_counts_the_whole_text_without_what_frames_it(vocabulary: Path, *, as_text: bool) -> None:
    count = counter_of(str(vocabulary) if as_text else vocabulary)
    assert count("") == 0
    assert count("red lamp") == 2
    assert count("red lamp, red lamp") == 5  # the file says that three are the most, and pads to eight
    assert count("red red red red red red red red red lamp") == 10


def test_a_function_counts_itself() -> None:
    assert counter_of(str.__len__)("lamp") == 4
    assert counter_of(lambda text: 1 // len(text))("") == 0  # not asked about nothing


@pytest.mark.parametrize("given", [7, b"tokenizer.json", ["lamp"]])
def test_anything_else_is_refused(given: object) -> None:
    with pytest.raises(ConfigError, match="a function or the path of a tokenizer"):
        counter_of(given)  # type: ignore[arg-type]


@pytest.mark.parametrize("answer", [None, 1.5, True, -1, "3"])
def test_a_function_that_returns_no_number_is_refused_at_once(answer: object) -> None:
    with pytest.raises(ConfigError, match="must return a whole number"):
        counter_of(lambda _: answer)  # type: ignore[arg-type]


@pytest.mark.parametrize("content", [None, "", "{}", "no JSON"])
def test_a_file_that_is_no_tokenizer_is_named(tmp_path: Path, content: str | None) -> None:
    path = tmp_path / "other.json"
    if content is not None:
        path.write_text(content)
    with pytest.raises(ConfigError, match=r"other\.json is no tokenizer\.json"):
        counter_of(path)
