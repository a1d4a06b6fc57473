"""Patterns compile at their first use and then are what `re` compiles."""

import re

import pytest

from biem.domain.text import late


def test_a_pattern_is_compiled_by_its_first_use() -> None:
    # Given a pattern that nothing has used / When it is used / Then it does what the compiled one does
    pattern = late("(a+)(b)?", re.IGNORECASE)
    held = vars(pattern)
    assert "compiled" not in held
    assert pattern.findall("AAb a") == re.compile("(a+)(b)?", re.IGNORECASE).findall("AAb a")
    assert pattern.sub("-", "xaab") == "x-"
    assert (pattern.pattern, pattern.groups) == ("(a+)(b)?", 2)
    assert "compiled" in held


def test_an_invalid_pattern_raises_what_re_raises() -> None:
    pattern = late("(")
    with pytest.raises(re.error):
        pattern.search("")
