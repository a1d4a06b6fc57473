"""Hypernyms: a person without pets has no dog, and a vegetarian eats no steak."""

from collections.abc import Iterator
from dataclasses import replace

from biem.adapters.contradiction import lexicon
from biem.adapters.contradiction.reading.reader import Clause, StatementReader

_HAVE = frozenset(("have", "ha", "had", "got", "own", "keep", "有", "养"))
"""Stems of having: seeing a dog is not having one."""


class Hypernyms:
    """The words, loaded once."""

    def __init__(self, reader: StatementReader) -> None:
        self._of: dict[str, frozenset[str]] = {}
        self._endings: list[tuple[str, frozenset[str]]] = []
        for general, special in lexicon.columns("kinds"):
            names = frozenset(reader.stem(word) for word in general)
            for word in special:
                if word.startswith("*"):
                    self._endings.append((word[1:], names))
                else:
                    self._of[reader.stem(word)] = names
        self._names = frozenset().union(*self._of.values(), *(names for _, names in self._endings))
        self._implied: dict[str, tuple[frozenset[str], frozenset[str]]] = {}
        for said, denied in lexicon.columns("implied"):
            sides = tuple(
                frozenset(reader.stem(word) for word in denied if word.isascii() is ascii_) for ascii_ in (True, False)
            )
            for word in said:
                self._implied[reader.stem(word)] = (sides[0], sides[1])

    def speaks(self, content: frozenset[str]) -> bool:
        """Whether a statement contains an implicit denial."""
        return not self._implied.keys().isdisjoint(content)

    def spelt_out(self, clause: Clause) -> Iterator[Clause]:
        """The clause and its implications: a vegetarian does not eat meat."""
        yield clause
        if clause.negations:
            return
        for word in sorted(clause.content & self._implied.keys()):
            english, chinese = self._implied[word]
            denied = english if word.isascii() else chinese
            rest = clause.content - {word}
            yield replace(clause, content=rest | denied, tokens=(*sorted(rest | denied),), negations=1)

    def raised(self, deny: Clause, affirm: Clause) -> Clause | None:
        """The affirmed clause with the hypernyms of the denied one; None if it is not a special case of it."""
        if self._names.isdisjoint(deny.content):
            return None
        generals = {
            word: shared
            for word in affirm.content - deny.content
            if (shared := self._generals(word) & deny.content) and not shared & affirm.content
        }
        if not generals:
            return None
        having = not _HAVE.isdisjoint(deny.tokens)
        if having and _HAVE.isdisjoint(affirm.tokens) and not any(word.startswith("allerg") for word in generals):
            return None
        content = (affirm.content - generals.keys()) | frozenset().union(*generals.values())
        return replace(affirm, content=content, who=affirm.who - generals.keys())

    def _generals(self, word: str) -> frozenset[str]:
        found = self._of.get(word)
        if found is not None or word.isascii():
            return found or frozenset()
        return next((names for ending, names in self._endings if word.endswith(ending) and word != ending), frozenset())
