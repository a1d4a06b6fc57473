"""Secrets known to this process, and the function that removes them from a text before it is shown.

Settings and clients register every password, token, key and URL that they get; all errors of this package, all log
records of the process, and the CLI's output on unexpected errors pass through `hidden`. It is the second line of
defence: the first is never to quote a URL or a key.
"""

import base64
import json
import logging
import re
import traceback
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote, quote_plus, unquote, unquote_plus

SHOWN_INSTEAD = "***"
_SHORTEST = 6
"""Shorter values are parts of ordinary words: hiding these would spoil messages, which do not quote them anyway."""
_WORDS = frozenset({"default", "guest", "milvus", "minio", "password", "postgres", "postgresql", "public", "redis"})
"""Words of our own messages; as passwords they are not secret."""
_SECRET_NAMES = re.compile(r"pass|pwd|token|key|secret|sig|auth|cred|login", re.IGNORECASE)
_PIECES = re.compile(r"[@/?#:&=%;,\s'\"\\]+")

_known: set[str] = set()
_pattern: re.Pattern[str] | None = None


def learn(secret: str) -> None:
    """Never show this password, token or key again, plain, percent-encoded, or as written in JSON and HTTP."""
    _add(_forms(secret.strip()))


def learn_url(url: str) -> None:
    """Never show the secrets of this URL or DSN again, however it may be parsed: well-formed or not."""
    url = url.strip()
    _add(form for secret in _secrets_of(url) for form in _forms(secret))


def hidden(text: str) -> str:
    """`text` with every known secret replaced."""
    return _pattern.sub(SHOWN_INSTEAD, text) if _pattern else text


def traceback_of(error: BaseException) -> str:
    """The traceback of an error with all its causes, without secrets."""
    return hidden("".join(traceback.format_exception(error)))


def _secrets_of(url: str) -> Iterator[str]:
    _, mark, rest = url.partition("://")
    if not mark:
        rest = url
        yield url  # no URL: perhaps the password itself, or a list of keywords
        for found in re.finditer(r"(?:password|passwd|pwd)\s*=\s*('(?:[^'\\]|\\.)*'?|\S+)", url, re.IGNORECASE):
            yield found[1].strip("'")
        _, keyword, tail = url.partition("password=")
        if keyword:
            yield from (piece for piece in tail.split() if "=" not in piece)
    before, at, _ = rest.rpartition("@")
    if at:
        yield url
        yield f"{before}@"
        for login in {before, rest.partition("@")[0]}:
            name, colon, password = login.partition(":")
            secret = password if colon else "" if mark else name
            yield secret
            if _PIECES.search(secret):  # a driver may end the password at this character and quote the rest
                yield from _PIECES.split(secret)
    query = rest.partition("?")[2]
    for part in re.split(r"[&;#\s]", query):
        name, equals, value = part.partition("=")
        if equals and _SECRET_NAMES.search(name):
            yield value
            yield url


def _forms(secret: str) -> Iterator[str]:
    for plain in {secret, unquote(secret), unquote_plus(secret)}:
        yield from (plain, quote(plain, safe=""), quote(plain), quote_plus(plain), json.dumps(plain)[1:-1])
        yield json.dumps(plain, ensure_ascii=False)[1:-1]
        yield repr(plain)[1:-1]
        yield base64.b64encode(plain.encode(errors="surrogatepass")).decode()


def _add(forms: Iterator[str]) -> None:
    global _pattern
    new = {form for form in forms if len(form) >= _SHORTEST and form.casefold() not in _WORDS} - _known
    if not new:
        return
    if not _known:
        _guard_logs()
    _known.update(new)
    longest_first = sorted(_known, key=lambda form: (-len(form), form))
    _pattern = re.compile("|".join(rf"(?<![^\W_]){re.escape(form)}(?![^\W_])" for form in longest_first))


def _guard_logs() -> None:
    """From now on no log record of this process, from any library, contains a known secret."""
    make = logging.getLogRecordFactory()

    def guarded(*arguments: Any, **options: Any) -> logging.LogRecord:
        record = make(*arguments, **options)
        try:
            said = record.getMessage()
        except Exception:  # noqa: BLE001 - logging itself reports arguments that do not fit
            return record
        if (safe := hidden(said)) != said:
            record.msg, record.args = safe, None
        if record.exc_info and record.exc_info[1] is not None:
            shown = "".join(traceback.format_exception(*record.exc_info)).rstrip("\n")
            if (safe := hidden(shown)) != shown:
                record.exc_text = safe
        return record

    logging.setLogRecordFactory(guarded)
