"""Fast keyword extraction: the promises of `Analyzer.keywords`, in both languages."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from biem.adapters.analyzers import RuleAnalyzer, words

ANALYZER = RuleAnalyzer()


class TestKeywords:
    @pytest.mark.req("H20", "C23", partly="golden keywords, no model")
    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("我喜欢周末去游泳和跑步，偶尔爬山钓鱼", {"游泳", "跑步", "爬山", "钓鱼"}),
            ("李明下周三飞里斯本参加机器学习会议", {"李明", "里斯本", "会议", "机器学习"}),
            ("知识图谱和激活扩散模型", {"知识图谱", "模型"}),
            ("My sister Grace moved to Berlin and works at Zalando", {"Grace", "Berlin", "Zalando", "sister"}),
            ("the payment service crashed on Kubernetes", {"payment service", "Kubernetes"}),
            ("Redis缓存用Python写, C++ and AI", {"Redis", "缓存", "Python", "C++", "AI"}),
        ],
    )
    def test_it_finds_what_a_text_is_about(self, text: str, expected: set[str]) -> None:
        # Given a text / When its keywords are asked for / Then what it is about is among them
        assert expected <= set(ANALYZER.keywords(text, 20))

    @pytest.mark.req("H20", partly="what is done is no topic")
    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("We discussed the migration and agreed to postpone the release", {"migration", "release"}),
            ("She is learning to play the cello and practices every morning", {"cello"}),
            ("He teaches physics, grows tomatoes and repairs clocks", {"physics", "tomatoes", "clocks"}),
            ("My daughter enjoys painting and hiking", {"daughter", "painting", "hiking"}),
            ("I am writing a thesis", {"thesis"}),
            ("They tinker with the boat", {"boat"}),
            ("The play was a success, and so was the walk", {"play", "success", "walk"}),
            ("我昨天买了一台咖啡机，准备送给李明", {"李明", "咖啡机"}),
            ("我们讨论了项目进度，决定推迟上线", {"项目", "上线"}),
            ("我参加了公司组织的培训", {"公司", "培训"}),
            ("周末想带孩子去看电影", {"孩子", "电影"}),
            ("会议改到下周三，请通知王芳准备材料", {"王芳", "会议", "材料"}),
            ("他辞职以后开了一家面包店", {"辞职", "面包店"}),
        ],
    )
    def test_what_is_done_is_no_topic(self, text: str, expected: set[str]) -> None:
        # Given a text about things / When its keywords are asked for / Then these are all, but for pairs of them
        assert {word for word in ANALYZER.keywords(text, 20) if " " not in word} == expected

    @pytest.mark.parametrize(
        "text", ["", " ", "的了 a", "好的，谢谢！", "I think so, yes. OK?", "12 34", "。？!", "\0\ud800"]
    )
    def test_a_text_about_nothing_has_none(self, text: str) -> None:
        # Given words that say nothing / When their keywords are asked for / Then there are none
        assert ANALYZER.keywords(text, 20) == []

    def test_names_come_first_then_what_is_said_most_often_and_pairs_last(self) -> None:
        # Given a text with a name and a word said twice
        text = "the soup needs salt, the soup is for Grace"

        # When its keywords are asked for / Then in this order
        found = ANALYZER.keywords(text, 20)
        assert found[:2] == ["Grace", "soup"]
        assert ANALYZER.keywords("payment service", 20) == ["payment", "service", "payment service"]

    def test_pairs_do_not_reach_over_what_stands_between(self) -> None:
        # Given words divided by a stop word and by a full stop / When asked / Then they are no pair
        assert not {"dog garden", "river dog"} & set(ANALYZER.keywords("A river. Dog and garden", 20))

    @given(text=st.text(max_size=120), limit=st.integers(0, 9))
    def test_of_any_text_it_gives_few_whole_words_none_twice(self, text: str, limit: int) -> None:
        # Given any text / When its keywords are asked for
        found = ANALYZER.keywords(text, limit)

        # Then they are few, longer than a character, none twice and none a stop word
        assert len(found) <= limit
        assert all(1 < len(word) <= 64 for word in found)
        assert len({word.casefold() for word in found}) == len(found)
        assert not {word.casefold() for word in found} & (words.load_set("stop_en") | words.load_set("stop_zh"))

    def test_a_huge_text_costs_no_more_than_its_beginning(self) -> None:
        # Given five megabytes / When its keywords are asked for / Then they are those of its beginning
        beginning = "李明去里斯本 " + "x " * 4_500
        assert ANALYZER.keywords(beginning + "Zalando 知识图谱 " * 300_000, 9) == ANALYZER.keywords(beginning, 9)

    def test_threads_share_it(self) -> None:
        # Given many threads that begin at once / When each asks / Then all get the same
        barrier = threading.Barrier(8)

        def work(_: int) -> list[str]:
            barrier.wait(60)
            return ANALYZER.keywords("李明下周三飞里斯本参加机器学习会议 with Grace", 20)

        with ThreadPoolExecutor(8) as threads:
            assert len({tuple(found) for found in threads.map(work, range(8))}) == 1
