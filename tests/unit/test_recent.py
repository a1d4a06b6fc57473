"""Values kept between queries: the last used, and nothing that was read before an erasure."""

from biem.recent import Recent


def test_those_not_used_for_longest_go_first() -> None:
    recent = Recent[str, int](2)
    _, mark = recent.known([])
    recent.keep({"a": 1, "b": 2}, mark)
    assert recent.known(["a", "c"]) == ({"a": 1}, mark)
    recent.keep({"c": 3}, mark)
    assert recent.known(["a", "b", "c"])[0] == {"a": 1, "c": 3}


def test_what_was_read_before_an_erasure_is_not_kept_after_it() -> None:
    # Given a value that is kept, and another that is being read
    recent = Recent[str, int](9)
    recent.keep({"a": 1}, recent.known([])[1])
    mark = recent.known(["b"])[1]
    # When something is erased meanwhile
    recent.forget()
    recent.keep({"b": 2}, mark)
    # Then neither is there, and later ones are kept
    found, later = recent.known(["a", "b"])
    assert found == {}
    recent.keep({"b": 2}, later)
    assert recent.known(["b"])[0] == {"b": 2}
