"""Text within a block."""

from biem.notes.inline import heading_text, plain
from biem.notes.placeholder import HOLE


def test_a_reader_sees_no_marks() -> None:
    read = plain("A **bold *and slanted*** word, [a link](http://example.org), ![an image](x.png)\nand `code`.")
    assert read.text == f"A bold and slanted word, a link, an image\nand {HOLE}."
    assert read.bold == ("bold and slanted",)


def test_text_without_marks_is_left_alone() -> None:
    assert plain("仅有文字。").text == "仅有文字。"


def test_double_links_survive() -> None:
    assert plain("see [[target|shown]] *now*").text == "see [[target|shown]] now"


def test_a_heading_loses_marks_and_anchor() -> None:
    assert heading_text("The **first** step { #first-step }") == "The first step"
    assert heading_text("Two\nlines") == "Two lines"
    assert heading_text("Setup {#setup .wide}") == "Setup"
    assert heading_text("Get started {/*get-started*/}") == "Get started"
    assert heading_text("`connect()`") == "connect()"
    assert heading_text("Get the `name` and **the `key` of it** { #get }") == "Get the name and the key of it"
    assert heading_text("`a < b` <br> *c*") == "a < b c"
    assert heading_text("") == ""
    assert len(heading_text("x" * 1_000)) == 200
