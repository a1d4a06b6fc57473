"""One connection to a server: requests with the key, and problem documents as the facade's own errors."""

import json
import re
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import IO, Any, TypeVar, get_args
from urllib.parse import quote

import httpx
from pydantic import ValidationError

from biem import errors
from biem.client.calls import Call
from biem.client.faults import words_of
from biem.client.parameters import Duration, Moment
from biem.client.wire import adapter, decoded, strict
from biem.domain.scope import Scope
from biem.domain.text import require_clean
from biem.engine.query.request import require_known
from biem.errors import (
    AccessDenied,
    BiemError,
    ConfigError,
    InvalidInput,
    KeyInvalid,
    NotFound,
    NotIndexed,
    RateLimited,
    RevisionConflict,
    StoreUnavailable,
)
from biem.redaction import learn

T = TypeVar("T")

_TYPE = "urn:biem:problem:"
_PIECE = 1 << 16
_CONNECT_S = 5.0
_KEY = re.compile("[ -~]+")
_BY_NAME: Mapping[str, type[BiemError]] = {
    re.sub("(?<!^)(?=[A-Z])", "-", name).lower(): kind
    for name, kind in vars(errors).items()
    if isinstance(kind, type) and issubclass(kind, BiemError)
}
"""The facade's own errors, by their name in a problem document."""
_BY_STATUS: Mapping[int, type[BiemError]] = {
    400: InvalidInput,
    401: KeyInvalid,
    403: AccessDenied,
    404: NotFound,
    412: RevisionConflict,
    413: InvalidInput,
    415: InvalidInput,
    422: InvalidInput,
    429: RateLimited,
    502: StoreUnavailable,
    503: StoreUnavailable,
    504: StoreUnavailable,
}
"""For answers of something between, such as a proxy."""


class Connection:
    """Shared by all scopes of one remote memory. Thread-safe."""

    def __init__(self, url: str, key: str, *, timeout_s: float, transport: httpx.BaseTransport | None = None) -> None:
        key = key.strip() if isinstance(key, str) else ""
        learn(key)
        if not _KEY.fullmatch(key):
            raise KeyInvalid(
                "the key is empty or has characters that no key has; give the token that `biem keys add` printed"
            )
        self._client = httpx.Client(
            base_url=_address(url),
            headers={"Authorization": f"Bearer {key}", "Accept": "application/json"},
            timeout=httpx.Timeout(timeout_s, connect=_CONNECT_S),
            transport=transport,
        )

    def close(self) -> None:
        """Close all connections; a second call does nothing."""
        self._client.close()

    def call(self, scope: Scope | None, call: Call, arguments: Mapping[str, Any]) -> Any:
        """What a call returns, for arguments by name. Raises as the facade's method does."""
        rest = {name: value for name, value in arguments.items() if name not in call.in_path}
        path = address_of(call, arguments)
        if call.has_body:
            return self.send(scope, call.verb, path, call.returns, body=body_of(call, rest))
        return self.send(scope, call.verb, path, call.returns, query=query_of(call, rest))

    def send(
        self,
        scope: Scope | None,
        verb: str,
        path: str,
        returns: Any,
        *,
        query: Mapping[str, Any] | None = None,
        body: Mapping[str, Any] | None = None,
        file: IO[bytes] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Any:
        """The decoded answer to one request, whose body is JSON or a file."""
        sent: dict[str, Any] = {"params": query or {}, "headers": {**_named(scope), **(headers or {})}}
        if file is not None:
            sent["content"] = iter(lambda: file.read(_PIECE), b"")
            sent["headers"]["Content-Type"] = "application/octet-stream"
        elif body is not None:
            sent["content"] = json.dumps(body)
            sent["headers"]["Content-Type"] = "application/json"
        answer = self._tried(lambda: self._client.request(verb, path, **sent))
        _raise_for(answer)
        try:
            return decoded(returns, answer.content)
        except ValueError as error:
            raise StoreUnavailable("the server's answer cannot be read; check its address and version") from error

    def download(self, scope: Scope | None, path: str, query: Mapping[str, Any], out: Callable[[bytes], object]) -> str:
        """Write an answer piece by piece; returns its header `Biem-Report`."""

        def work() -> str:
            with self._client.stream("GET", path, params=query, headers=_named(scope)) as answer:
                if answer.status_code >= httpx.codes.BAD_REQUEST:
                    answer.read()
                    _raise_for(answer)
                for piece in answer.iter_bytes(_PIECE):
                    out(piece)
                return str(answer.headers.get("Biem-Report", ""))

        return self._tried(work)

    def _tried(self, work: Callable[[], T]) -> T:
        if self._client.is_closed:
            raise BiemError("this memory is closed; call biem.remote() again")
        try:
            return work()
        except httpx.InvalidURL as error:
            raise InvalidInput(f"the arguments are too long for an address ({error}); ask for less at once") from None
        except httpx.HTTPError as error:
            raise StoreUnavailable(
                f"the server at {self._client.base_url} did not answer ({type(error).__name__}); "
                "check its address, and that `biem serve` runs there"
            ) from error


def _address(url: str) -> httpx.URL:
    """Raises `ConfigError`, which does not quote the address: a password may stand in it."""
    try:
        found = httpx.URL(url)
    except (httpx.InvalidURL, TypeError):
        found = httpx.URL()
    if found.scheme not in ("http", "https") or not found.host or "@" in url:  # an @ behind / ends a password, too
        raise ConfigError(
            "the server's address cannot be used; give it as http://127.0.0.1:8766, without a user or password"
        )
    return found


def _named(scope: Scope | None) -> dict[str, str]:
    """The headers that name a scope within the key's binding."""
    if scope is None:
        return {}
    return {"Biem-User": quote(scope.user, safe=""), "Biem-Project": quote(scope.project, safe="")}


def address_of(call: Call, arguments: Mapping[str, Any]) -> str:
    """The path of a call. Raises `InvalidInput`."""
    given = body_of(call, {name: arguments[name] for name in call.in_path})
    for name, value in given.items():
        if not value:
            raise InvalidInput(f"{name} is empty; name what is meant")
    return call.path.format(**{name: quote(str(value), safe="") for name, value in given.items()})


def body_of(call: Call, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments as JSON. Raises `InvalidInput`, and `TypeError` for one that the method does not have."""
    require_known(arguments, call.parameters)
    return {name: _carried(name, call.parameters[name].kind, value) for name, value in arguments.items()}


def _carried(name: str, kind: Any, value: Any) -> Any:
    """A value as JSON, refused as the facade refuses it: what JSON would make another thing, such as bytes, a text."""
    for wire, native in ((Moment, datetime), (Duration, timedelta)):
        if wire in (kind, *get_args(kind)) and not isinstance(value, native | None):
            raise InvalidInput(f"{name} must be a {native.__name__}, not {type(value).__name__}")
    try:
        checked = strict(kind).validate_python(value)
        if isinstance(checked, str):
            require_clean(checked, name)
        if isinstance(checked, dict | list):
            json.dumps(checked, allow_nan=False)
    except ValidationError as error:
        fault = error.errors(include_url=False)[0]
        what = name + "".join(f"[{part}]" for part in fault["loc"] if isinstance(part, int))
        if isinstance(fault["input"], str):
            require_clean(fault["input"], what)
        raise InvalidInput(f"{what} {words_of(fault)}, not {type(fault['input']).__name__}") from None
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidInput(f"{name} cannot be stored as JSON: {error}") from None
    return adapter(kind).dump_python(checked, mode="json", warnings=False)


def query_of(call: Call, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments as a query, which has no null; objects are JSON."""
    return {
        name: json.dumps(value) if isinstance(value, dict) else value
        for name, value in body_of(call, arguments).items()
        if value is not None
    }


def _raise_for(answer: httpx.Response) -> None:
    """Raise what a problem document says."""
    if answer.status_code < httpx.codes.BAD_REQUEST:
        return
    try:
        found = answer.json()
    except ValueError:
        found = {}
    document = found if isinstance(found, dict) else {}
    name = str(document.get("type", "")).removeprefix(_TYPE)
    said = document.get("detail") or document.get("title") or f"the server answered {answer.status_code}"
    kind = _BY_NAME.get(name) or _BY_STATUS.get(answer.status_code, BiemError)
    if issubclass(kind, NotIndexed):
        raise kind(said, document.get("ids", ()))
    if issubclass(kind, RateLimited):
        raise kind(said, float(answer.headers.get("Retry-After", 0)))
    raise kind(said)
