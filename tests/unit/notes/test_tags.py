"""Tags from five sources, the heaviest first."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from biem.domain.note import TAG_SOURCES, FrontMatter, NoteTags
from biem.domain.policies.notes import NotePolicy
from biem.notes.tags import identity, is_idle, names, note_tags, path_tags, stem
from tests.unit.notes.reading import all_tags, note, reader

GOLDEN = """\
---
tags: [神兵, 传说/上古]
aliases: 黑剑
---
# 乌髓孑灯

“北境王”铸成了它，见《山海残卷》与[[往生堂#历史|那家店]]。 #收藏

## 武器故事

**元素属性**：火。**稀有度：** 五星。**它是全书里最有名的一件神兵利器，没有之一。**

### 来历

「望舒」里说，"Liyue" 的人都知道。`“代码”` 里没有标签。
"""


@pytest.mark.req("G33", "G34")
def test_each_source_gives_its_tags() -> None:
    # Given a note with tags of all sources / When it is read
    read = note(GOLDEN, "武器/法器/乌髓孑灯.md")
    # Then path and front matter hold for all chunks, the others for theirs; each tag stands once
    assert read.tags == NoteTags(path=("武器", "法器", "乌髓孑灯", "黑剑", "神兵", "传说", "上古"))
    assert [chunk.tags for chunk in read.chunks] == [
        NoteTags(name=("北境王", "山海残卷", "往生堂", "收藏")),
        NoteTags(heading=("武器故事", "来历"), name=("望舒", "Liyue"), bold=("元素属性", "稀有度")),
    ]


def test_weights_fall_from_source_to_source() -> None:
    assert all(one > two for one, two in pairwise(NotePolicy().tag_weights))
    assert len(NotePolicy().tag_weights) == len(TAG_SOURCES)
    with pytest.raises(ValueError, match="falling"):
        NotePolicy(tag_weights=(1.0, 0.8, 0.8, 0.4, 0.2))


@pytest.mark.req("G34")
@pytest.mark.req("G70", partly="directories are categories")
@pytest.mark.parametrize(
    ("path", "tags"),
    [
        ("武器/法器/乌髓孑灯.md", ["武器", "法器", "乌髓孑灯"]),
        ("武器\\法器\\乌髓孑灯.md", ["武器", "法器", "乌髓孑灯"]),
        ("武器/法器/乌髓孑灯", ["武器", "法器", "乌髓孑灯"]),
        ("编程/Python.md", ["编程", "Python"]),
        ("产品/需求分析.markdown", ["产品", "需求分析"]),
        ("个人/项目笔记.MD", ["个人", "项目笔记"]),
        ("site/Getting started.mdx", ["site", "Getting started"]),
        ("pages/乐器___弦乐___二胡.md", ["pages", "乐器", "弦乐", "二胡"]),
        ("01-basics/2025-03-14 tea meeting.md", ["basics", "tea meeting"]),
        ("2.1 setup/03、总结会.md", ["setup", "总结会"]),
        ("diary/2025-03/2025-03-14.md", ["diary"]),
        ("3D printing/007.md", ["3D printing"]),
        ("2024年度计划.md", ["2024年度计划"]),
        ("202403140930 water kefir.md", ["water kefir"]),
        ("20240314T0930-kefir.md", ["kefir"]),
        (f"Team {'0a' * 16}/Kefir 2 {'f1' * 16}.md", ["Team", "Kefir 2"]),
        ("123456_Kefir.md", ["Kefir"]),
        ("wiki/Kefir_1234567.md", ["wiki", "Kefir"]),
        ("10000-steps.md", ["10000-steps"]),
        ("kefir deadbeef.md", ["kefir deadbeef"]),
    ],
)
def test_a_path_is_a_classification(path: str, tags: list[str]) -> None:
    assert path_tags(path) == tags
    assert (stem(path) or tags[-1]) == tags[-1]


@pytest.mark.parametrize(
    "name", ["概述", "内容：", "Overview", "  misc. ", "README", "123", "Table  of contents", "——"]
)
def test_empty_words_are_idle(name: str) -> None:
    assert is_idle(name)


@pytest.mark.parametrize("name", ["茶的概述", "Overview of tea", "C", "2024年"])
def test_words_with_a_subject_are_not(name: str) -> None:
    assert not is_idle(name)


def test_an_idle_heading_stays_in_the_chain_and_is_no_tag() -> None:
    read = note("# Tea\n\n## Overview\n\ntext\n", "a/readme.md")
    assert read.chunks[0].headings == ("Tea", "Overview")
    assert all_tags(read, read.chunks[0]) == {"a", "Tea"}


def test_several_h1_are_tags_of_their_chunks_alone() -> None:
    read = note("# Tea\n\na\n\n# Coffee\n\nb\n")
    assert read.tags.heading == ()
    assert [chunk.tags.heading for chunk in read.chunks] == [("Tea",), ("Coffee",)]


def test_spellings_are_one_tag_shown_as_first_written() -> None:
    assert identity("ＴＥＡ  house") == identity("Tea House") == "tea house"
    assert note("# TEA\n\n## tea\n\n**Tea**\n", "Ｔea.md").tags.all == ("Ｔea",)


def test_names_need_their_marks() -> None:
    text = '“one name” ‘no’ 「二人」 《三国》 [[folder/Note#part|shown]] #tag/part #1 a#b http://x#c "x" “a, b”'
    assert list(names(text)) == ["one name", "二人", "三国", "Note", "tag", "part"]


def test_a_chunk_has_24_tags_at_most_and_the_light_ones_go() -> None:
    # Given more names than there is room for / When the note is read
    text = "# T\n\n## H\n\n" + " ".join(f"《book{n}》" for n in range(40)) + " **bold**\n"
    read = note(text, "/".join(f"dir{n}x" for n in range(20)) + "/f.md")
    # Then its own and the inherited ones are 24, heavy ones first
    own = read.chunks[0].tags
    assert (len(read.tags.all), len(all_tags(read, read.chunks[0]))) == (16, 24)
    assert (len(own.name), own.bold) == (8, ())


def test_keywords_are_of_the_prose_alone_and_fill_what_is_left() -> None:
    asked: list[tuple[str, int]] = []

    class Words:
        def keywords(self, text: str, limit: int) -> list[str]:
            asked.append((text, limit))
            return ["Tea", "water"]

    read = reader(keywords=Words()).read("tea.md", b"# H\n\nHot `code` water.\n\n```\nmore code\n```\n")
    assert getattr(read, "chunks")[0].tags.keyword == ("water",)  # noqa: B009
    assert asked == [("Hot   water.", 4)]


def test_counts_tell_the_sources_apart() -> None:
    tags = NoteTags(path=("a", "b"), name=("c",), keyword=("d",))
    assert tags.all == ("a", "b", "c", "d")
    assert tags.counts == (2, 0, 1, 0, 1)


@given(st.text(max_size=60), st.lists(st.text(max_size=12), max_size=4))
def test_any_names_give_tags_that_differ(path: str, tags: list[str]) -> None:
    found = note_tags(path, FrontMatter(tags=tuple(tags)), path, most=16).all
    assert len({identity(tag) for tag in found}) == len(found) <= 16
    assert all(tag.strip() == tag != "" for tag in found)
