"""Model notes pass; each fault gets its rule, its line and what to do, in English and in Chinese."""

import pytest

from biem.domain.note import LINT_RULES, SkippedNote
from biem.notes.lint import lint
from biem.notes.scan import collisions
from tests.unit.notes.reading import note, reader, rules

MODEL_ZH = """\
---
tags: [兵器]
date: 2024-05-02
---
# 寒江剑

寒江剑是“听雪楼”的镇楼之宝。

## 寒江剑的来历

**铸造者**：沈青崖。寒江剑铸成于《北地志》所记的大雪之年。

### 北地大雪

那一年江面结冰三月。

## 寒江剑的用法

**剑诀**：以静制动。寒江剑不出鞘时最险。
"""
MODEL_EN = """\
# Water kefir

Water kefir is a drink of sugar water that "kefir grains" ferment in two days.

## Grains of water kefir

**Keeping**: the grains rest in sugar water in the fridge, for three weeks at most.

## Faults of water kefir

### Bitter taste

The grains were left for too long.
"""


@pytest.mark.req("G52")
@pytest.mark.parametrize(("text", "path"), [(MODEL_ZH, "兵器/寒江剑.md"), (MODEL_EN, "drinks/water kefir.md")])
def test_a_model_note_passes(text: str, path: str) -> None:
    assert rules(text, path) == []


@pytest.mark.req("G53")
@pytest.mark.parametrize(
    ("text", "path", "found"),
    [
        ("寒江剑是镇楼之宝。\n", "寒江剑.md", [(1, "no-heading")]),
        ("Kefir ferments in two days.\n", "kefir.md", [(1, "no-heading")]),
        ("# 寒江剑\n\n## 内容\n\n剑长三尺。\n", "寒江剑.md", [(3, "heading-too-broad")]),
        ("# Kefir\n\n## Overview:\n\nKefir is a drink.\n", "kefir.md", [(3, "heading-too-broad")]),
        ("# 寒江剑\n\n寒江剑在江边。\n\n## 用法\n\n它不出鞘时最险。\n", "寒江剑.md", [(7, "broken-across-chunks")]),
        ("# 寒江剑\n\n寒江剑在江边。\n\n## 用法\n\n- 如上所述，静。\n", "寒江剑.md", [(7, "broken-across-chunks")]),
        ("# Kefir\n\nA drink.\n\n## Use\n\nAs mentioned above, wait.\n", "kefir.md", [(7, "broken-across-chunks")]),
        ("# Kefir\n\nA drink.\n\n## Use\n\nIt is sour.\n", "kefir.md", [(7, "broken-across-chunks")]),
        ("## 用途\n\n剑可防身。\n", "2024-05-02.md", [(1, "no-identifier")]),
        ("## Use\n\nCuts bread.\n", "untitled.md", [(1, "no-identifier")]),
    ],
)
def test_a_bad_note_gets_its_rule(text: str, path: str, found: list[tuple[int, str]]) -> None:
    assert rules(text, path) == found


@pytest.mark.parametrize(
    "text",
    [
        "# Kefir\n\nIt is a drink.\n",  # nothing stands before it
        "# Kefir\n\nA drink.\n\n## Italy\n\nItaly has none.\n",
        "# 剑\n\n一剑。\n\n## 其他剑\n\n其他剑很多，此外无剑。\n",
        "# Kefir\n\nA drink.\n\n## Theory\n\nTheory of fermentation.\n",
    ],
)
def test_words_that_only_begin_like_it_are_no_fault(text: str) -> None:
    assert rules(text) == []


def test_a_title_of_the_front_matter_or_an_h1_is_an_identifier() -> None:
    assert rules("---\ntitle: Kefir\n---\n## Use\n\nx\n", "2024-05-02.md") == []
    assert rules("# Kefir\n\nx\n", "2024-05-02.md") == []


def test_a_day_is_the_subject_of_an_entry_of_a_diary_and_a_number_is_of_nothing() -> None:
    assert rules("# 2024-05-02\n\n## Garden\n\nx\n\n## 2024年5月3日\n\ny\n", "2024-05-02.md") == []
    assert rules("- Watered the kefir.\n", "journals/2024_05_02.md") == []
    assert rules("---\ntitle: Kefir\n---\nWater it.\n", "_index.md") == []
    assert rules("# 202405021130\n\nx\n", "202405021130.md") == [(1, "no-identifier"), (1, "heading-too-broad")]


def test_headings_without_text_are_empty_and_those_of_parts_are_not() -> None:
    text = "# Kefir\n\n## Grains\n\n### Keeping\n\nx\n\n## Faults\n\n---\n\n## Use\n\nx\n\n### Last\n"
    assert rules(text) == [(9, "empty-section"), (17, "empty-section")]


def test_a_long_section_is_reported_once_and_a_cut_sentence_where_it_goes_on() -> None:
    sentence = "a very long sentence of words without any end " * 60
    text = f"# Kefir\n\n## Use\n\n{sentence}\n\n## Short\n\nx\n"
    found = rules(text)
    assert found[0] == (5, "section-too-long")
    assert {rule for _, rule in found[1:]} == {"broken-across-chunks"}


def test_parts_below_h3_headings_may_be_long_together() -> None:
    text = "# Kefir\n\n## Use\n\n" + "".join(f"### Part {n}\n\n" + "A sentence. " * 60 + "\n\n" for n in range(3))
    assert rules(text) == []


def test_what_reading_found_is_reported_too() -> None:
    assert rules("---\ntitle: [a\n---\n# Kefir\n\nx\n") == [(3, "bad-front-matter")]
    read = reader().read("茶.md", "# 茶的种类\n\n绿茶、红茶和乌龙茶都来自同一种植物的叶子。\n".encode("gb18030"))
    (finding,) = lint(read)
    assert (finding.rule, finding.line) == ("not-utf8", 1)
    assert "iconv -f GB18030 -t UTF-8 '茶.md'" in finding.advice


def test_a_skipped_note_says_why() -> None:
    (finding,) = lint(SkippedNote("a.md", "too-large", "divide it"))
    assert (finding.path, finding.line, finding.rule, finding.advice) == ("a.md", 1, "too-large", "divide it")


def test_every_finding_has_a_known_rule_and_says_what_to_do() -> None:
    text = "---\na: [\n---\nx\n\n## Overview\n\n## 内容\n\nIt " + "goes on and " * 400
    found = [*lint(note(text, "readme.md")), *collisions(["a.md", "A.md"])]
    assert {finding.rule for finding in found} == set(LINT_RULES) - {
        "no-heading",
        "not-utf8",
        "too-large",
        "unreadable",
    }
    assert all(":" in finding.advice or ";" in finding.advice for finding in found)
    assert [finding.line for finding in found[:-2]] == sorted(finding.line for finding in found[:-2])
