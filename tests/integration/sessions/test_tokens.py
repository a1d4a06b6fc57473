"""Budgets in the tokens of the caller's model: blocks, windows and sessions."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tokenizers import Tokenizer, models, pre_tokenizers, trainers

import biem
from biem.domain.tokens import estimate_tokens
from tests.support.fakes import WordEmbedder
from tests.support.servers import Configure

TEXTS = [
    *(f"The oak table number {number} was moved to the hall on a Tuesday by Ann-Marie Oyela" for number in range(30)),
    *(f"第{number}张橡木桌子星期二被搬到了大厅，由欧阳明珠负责登记" for number in range(30)),
]


@pytest.fixture(scope="module")
def vocabulary(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A byte-level vocabulary that has hardly learned a pair, as a model has it that knows no Chinese."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=300, initial_alphabet=alphabet, show_progress=False)
    tokenizer.train_from_iterator(["the oak table was moved to the hall"], trainer)
    path = tmp_path_factory.mktemp("model") / "tokenizer.json"
    tokenizer.save(str(path))
    return path


@pytest.fixture(scope="module")
def memory(settings: Configure, vocabulary: Path) -> Iterator[biem.Memory]:
    with biem.connect(settings(), embedder=WordEmbedder(), tokens=vocabulary) as memory:
        memory.remember_many([{"text": text, "ref": str(place)} for place, text in enumerate(TEXTS)])
        memory.remember("Rule: 桌子不出门", layer="core", kind="knowledge")
        memory.remember("Wax the oak table 给桌子打蜡", kind="task", metadata={"category": "task"})
        assert memory.flush()
        yield memory


@pytest.mark.parametrize("query", ["Which oak table was moved to the hall?", "哪张橡木桌子被搬到了大厅？"])
@pytest.mark.parametrize("budget", [200, 450])
def test_a_block_and_a_window_keep_their_budget_in_the_tokens_of_the_model(
    memory: biem.Memory, vocabulary: Path, query: str, budget: int
) -> None:
    tokenizer = Tokenizer.from_file(str(vocabulary))

    def exact(text: str) -> int:
        return len(tokenizer.encode(text).ids)

    # Given texts for which the estimate is far too low
    assert all(exact(text) > 1.5 * estimate_tokens(text) for text in TEXTS)

    # When a block and a window are built
    block = memory.context(query, budget_tokens=budget)
    built = memory.build_context(query, budget=budget)

    # Then each stays within its budget as the model counts, and uses it
    assert block.hits
    assert 0.4 * budget < exact(block.text) <= budget
    assert exact(built.system) <= built.tokens <= budget
    assert built.hits


def test_a_session_counts_as_the_model_does(memory: biem.Memory, vocabulary: Path) -> None:
    text = "桌子 table"
    chat = memory.sessions.open("tokens")
    memory.sessions.append(chat.id, "user", text)
    assert memory.sessions.get(chat.id).tokens == len(Tokenizer.from_file(str(vocabulary)).encode(text).ids)
    # But the caller's own count of a message wins
    memory.sessions.append(chat.id, "user", text, tokens=3)
    assert memory.sessions.get(chat.id).tokens == len(Tokenizer.from_file(str(vocabulary)).encode(text).ids) + 3
