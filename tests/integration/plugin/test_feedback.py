"""The plugin closes the loop: what an answer used becomes stronger, and what is on one's mind joins the block."""

from datetime import timedelta

import pytest

import biem
from biem import BIEMContextPlugin
from biem.errors import StoreUnavailable

BASE = "You are a helpful assistant."


def down() -> biem.Memory:
    raise StoreUnavailable("PostgreSQL does not answer")


def never() -> biem.Memory:
    raise AssertionError("memory is off and must not be opened")


def two(memory: biem.Memory) -> tuple[str, str]:
    """A memory about a hotel and one about a ferry."""
    hotel = memory.remember("Lin Xiao stays at Hotel Avenida in Lisbon")
    ferry = memory.remember("The ferry from Lisbon leaves at 7:40")
    assert memory.flush()
    return hotel, ferry


def uses(memory: biem.Memory, *ids: str) -> list[int]:
    return [memory.get(memory_id).useful_count for memory_id in ids]


class TestFeedback:
    def test_the_plugin_knows_what_it_injected_until_the_reply_was_recorded(self, memory: biem.Memory) -> None:
        # Given two memories and a plugin
        hotel, ferry = two(memory)
        plugin = BIEMContextPlugin(memory, conversation="c")
        assert not plugin.injected
        # When a turn begins / Then it names what the block shows
        block = plugin.recall_context("What about Lisbon?")
        assert plugin.injected == tuple(hit.node.id for hit in block.hits)
        assert set(plugin.injected) == {hotel, ferry}
        # When the reply is recorded / Then the turn is over
        plugin.record_user_message("What about Lisbon?")
        assert len(plugin.injected) == 2
        plugin.record_assistant_message("It is a lovely town")
        assert not plugin.injected

    def test_feedback_praises_and_blames_and_a_named_turn_counts_once(self, memory: biem.Memory) -> None:
        # Given two injected memories
        hotel, ferry = two(memory)
        plugin = BIEMContextPlugin(memory)
        before = memory.get(ferry).energy
        # When the agent says, twice, which one was of use
        for _ in range(2):
            assert plugin.feedback([hotel], [ferry], turn="monday-1")
        # Then one praise and one blame were learnt
        assert uses(memory, hotel, ferry) == [1, 0]
        assert memory.get(ferry).energy < before

    def test_feedback_never_breaks_the_agent(self, memory: biem.Memory) -> None:
        # Given no memory, memory switched off, and an id that no one knows / When feedback comes / Then no one suffers
        unknown = "01890a5d-ac96-774b-bcce-b302099a8057"
        assert BIEMContextPlugin(down).feedback([unknown]) is False
        assert BIEMContextPlugin(never, enabled=False).feedback([unknown]) is False
        assert BIEMContextPlugin(memory).feedback([unknown]) is False
        assert BIEMContextPlugin(memory).feedback(["no id"]) is False


class TestAutomaticFeedback:
    @pytest.mark.req("G15", partly="with auto_feedback=True, which is off by default")
    def test_a_reply_that_says_what_only_one_memory_has_praises_that_memory(self, memory: biem.Memory) -> None:
        # Given an agent that asked for automatic feedback
        hotel, ferry = two(memory)
        plugin = BIEMContextPlugin(memory, auto_feedback=True)
        # When it answers out of one memory
        plugin.prepare_context("Where does Lin Xiao stay in Lisbon?")
        plugin.record_assistant_message("She stays at Hotel Avenida.")
        # Then that one was useful; said again without a question in between, it counts no more
        plugin.record_assistant_message("As I said, Hotel Avenida.")
        assert uses(memory, hotel, ferry) == [1, 0]

    def test_what_the_question_says_proves_nothing_and_unasked_nothing_is_learnt(self, memory: biem.Memory) -> None:
        # Given an agent with and one without automatic feedback
        hotel, ferry = two(memory)
        asked, unasked = BIEMContextPlugin(memory, auto_feedback=True), BIEMContextPlugin(memory)
        # When the reply repeats the question, or no one asked for feedback
        asked.prepare_context("Is Hotel Avenida nice?")
        asked.record_assistant_message("Hotel Avenida is very nice.")
        unasked.prepare_context("Where does Lin Xiao stay?")
        unasked.record_assistant_message("At Hotel Avenida.")
        # Then nothing was learnt
        assert uses(memory, hotel, ferry) == [0, 0]

    def test_a_memory_erased_between_question_and_reply_costs_nothing(self, memory: biem.Memory) -> None:
        # Given a turn whose memory is erased before the reply
        hotel, _ = two(memory)
        plugin = BIEMContextPlugin(memory, auto_feedback=True)
        plugin.prepare_context("Where does Lin Xiao stay in Lisbon?")
        memory.erase(hotel)
        # When the reply is recorded / Then it is kept all the same
        assert plugin.record_assistant_message("At Hotel Avenida.") is not None


class TestRunningMemory:
    @pytest.mark.req("H43", partly="below the block of the plugin")
    def test_what_is_on_ones_mind_stands_below_the_block_when_asked_for(self, memory: biem.Memory) -> None:
        # Given conversation that was built into concepts
        for text in (
            "My cat Bamboo sleeps on the warm router",
            "Whenever there is thunder, Bamboo hides below my bed",
            "Yesterday evening a whole tin of tuna went to Bamboo",
        ):
            memory.remember(text, speaker="Mei", conversation="monday", at=memory.now() - timedelta(days=2))
        assert memory.flush()
        memory.sleep()
        # When a turn of another conversation names the concept, with room for one memory in the block
        plugin = BIEMContextPlugin(memory, conversation="friday", top_k=1, running=True)
        prompt = plugin.system_prompt(BASE, "How is Bamboo?")
        # Then the rest stands below, and nothing twice
        block, section = prompt.split("\n\nRelated memories:\n")
        assert block.startswith(f"{BASE}\n\n## Relevant Memories")
        assert section.startswith("1. ")
        shown = block.splitlines()[-1] if "Entities" not in block else block.splitlines()[-2]
        assert all(line.partition(": ")[2] not in shown for line in section.splitlines())
        # And it is not there for who did not ask
        plain = BIEMContextPlugin(memory, conversation="friday", top_k=1).prepare_context("How is Bamboo?")
        assert "Related memories" not in plain
        assert "Bamboo" in plain

    def test_nothing_on_ones_mind_leaves_the_block_as_it_is(self, memory: biem.Memory) -> None:
        # Given memories that are no concepts yet / When a turn asks for running memory / Then there is just the block
        two(memory)
        with_it, without = (BIEMContextPlugin(memory, conversation="c", running=flag) for flag in (True, False))
        lines = [plugin.prepare_context("ferry") for plugin in (with_it, without)]
        assert "Related memories" not in lines[0]
        assert len(lines[0].splitlines()) == len(lines[1].splitlines())
