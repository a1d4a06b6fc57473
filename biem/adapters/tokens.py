"""Counters of tokens: an estimate, a model's own vocabulary from a file, or a function of the caller."""

from collections.abc import Callable
from os import PathLike, fspath

from biem.domain.tokens import estimate_tokens
from biem.errors import ConfigError
from biem.ports.layers.sessions import TokenCounter, Tokens


def counter_of(tokens: Tokens | None) -> TokenCounter:
    """A counter: None estimates, a path names a `tokenizer.json` of Hugging Face, and a function counts on its own.

    Raises `ConfigError` for a file that is no tokenizer, and for a function that returns no whole number.
    """
    if tokens is None:
        return estimate_tokens
    if isinstance(tokens, str | PathLike):
        return _vocabulary(fspath(tokens))
    if not callable(tokens):
        raise ConfigError(f"tokens must be a function or the path of a tokenizer.json, not {type(tokens).__name__}")
    return _checked(tokens)


def _vocabulary(path: str) -> TokenCounter:
    from tokenizers import Tokenizer  # noqa: PLC0415  takes 15 ms, which most programs need not spend

    try:
        tokenizer = Tokenizer.from_file(path)
    except Exception as error:  # the library raises this very class
        raise ConfigError(f"{path} is no tokenizer.json ({error}); download the one of your model") from error
    tokenizer.no_truncation()
    tokenizer.no_padding()

    def count(text: str) -> int:
        return len(tokenizer.encode(text, add_special_tokens=False).ids)

    return count


def _checked(given: Callable[[str], int]) -> TokenCounter:
    """The same function, which must have counted correctly once: the first budget is too late to find out."""

    def count(text: str) -> int:
        found = given(text) if text else 0
        if isinstance(found, bool) or not isinstance(found, int) or found < 0:
            raise ConfigError(f"the function that counts tokens must return a whole number, 0 or more, not {found!r}")
        return found

    count("tokens 记忆")
    return count
