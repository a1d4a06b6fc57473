"""What a citation says, and names that a query mentions."""

import pytest

from biem.domain.notes.library import NotePassage, cited
from biem.notes.search.candidates import mentioned
from biem.notes.search.searcher import citation_of


@pytest.mark.req("G39")
def test_a_citation_names_folders_file_line_and_headings() -> None:
    path, headings = "武器/法器/乌髓孑灯.md", ("乌髓孑灯", "武器故事")
    # The heading that the file name says already is left out
    assert cited(path, 41, headings, 1_150) == "武器/法器/乌髓孑灯.md:41 › 武器故事"
    assert cited("note.md", 1, (), 10) == "note.md:1"
    assert (
        cited("202403140930 Water-kefir.md", 5, ("Water kefir", "Grains"), 900)
        == "202403140930 Water-kefir.md:5 › Grains"
    )
    assert cited("teapots.md", 5, ("Tea",), 900) == "teapots.md:5 › Tea"


@pytest.mark.req("G39", partly="a tenth of the text")
def test_a_short_text_has_a_short_citation() -> None:
    path, headings = "a very long folder/and one more/report.md", ("Results of the year", "Costs", "Paper")
    assert cited(path, 7, headings, 1_000).startswith("a very long folder/and one more/report.md:7 › Results")
    assert cited(path, 7, headings, 60) == "report.md:7 › Paper"
    assert cited("a/name that is longer than its share.md", 7, (), 10) == "name that is longer than its share.md:7"


@pytest.mark.req("G39", partly="files of one name")
def test_a_folder_stays_where_the_name_of_the_file_says_little() -> None:
    def citation(path: str) -> str:
        return citation_of(path, NotePassage(id="x", place=0, lines=(5, 5), headings=(), levels=(), body="é", tokens=1))

    assert citation("the library of weather stations/README.md") == "the library of weather stations/README.md:5"
    assert citation("observations/weather stations/index.md") == "weather stations/index.md:5"
    assert citation("diary of this gardener/03/14.md") == "03/14.md:5"
    assert citation("diary of this gardener/2024-03-14.md") == "2024-03-14.md:5"
    assert citation("README.md") == "README.md:5"


@pytest.mark.req("G39", partly="files of one name")
def test_folders_stay_that_tell_a_file_from_others_of_its_name() -> None:
    # Given files of one name in several folders
    alike = ["api of the whole program/themes.md", "docs/themes.md", "guide/docs/themes.md", "themes.md"]

    def citation(path: str) -> str:
        passage = NotePassage(id="x", place=0, lines=(5, 5), headings=(), levels=(), body="é", tokens=1)
        return citation_of(path, passage, alike)

    # Then each citation is the end of one path only, or the whole of one
    assert [citation(path) for path in alike] == [f"{path}:5" for path in alike]
    # And no more folders stay than that needs
    assert citation("the collection of guides/plans/themes.md") == "plans/themes.md:5"


def test_a_query_mentions_runs_of_its_words_and_characters() -> None:
    found = mentioned("Who wrote Clean Code 的作者？")
    assert {"clean code", "wrote clean code", "clean-code", "clean_code", "code", "的作者", "作者"} <= set(found)
    assert "wrote clean code 的" not in found
    assert mentioned("") == []
    assert len(mentioned("word " * 500)) <= 400
