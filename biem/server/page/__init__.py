"""The page of `biem serve` and `biem web`: files for a browser, which has the rest of `/v1`."""

import re
from collections.abc import Callable
from importlib.resources import files
from importlib.resources.abc import Traversable

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

LANGUAGES = ("en", "zh")
"""Each has a dictionary in `files/words`; the first is the default."""
_FOLDER = "/page/"
_TYPES = {
    "css": "text/css",
    "html": "text/html",
    "js": "text/javascript",
    "json": "application/json",
    "svg": "image/svg+xml",
    "txt": "text/plain",
}
_RANGE = re.compile(r"\s*([a-z]{1,8})(?:-[\w-]+)?\s*(?:;\s*q=([01](?:\.\d{0,3})?)\s*)?", re.IGNORECASE)


def _found(folder: Traversable, path: str) -> dict[str, Traversable]:
    """The files below a folder by their addresses."""
    found: dict[str, Traversable] = {}
    for each in folder.iterdir():
        if each.is_dir():
            found |= _found(each, f"{path}{each.name}/")
        else:
            found[path + each.name] = each
    return found


_FILES = _found(files(__package__) / "files", _FOLDER)
_START = _FILES.pop(f"{_FOLDER}index.html")
PATHS = ("/", *_FILES)
"""Addresses of the page, which hold no memory."""


def routes() -> list[Route]:
    """The page itself, in the reader's language, and its files."""
    return [Route("/", start), *(Route(path, _sender(path, file)) for path, file in _FILES.items())]


def start(request: Request) -> Response:
    """The page; its language is the first of `Accept-Language` that there is a dictionary for.

    It says whether this server asks for a key.
    """
    language = preferred(request.headers.get("accept-language", ""))
    local = request.app.state.local
    content = _START.read_text(encoding="utf-8").replace('<html lang="en">', f'<html lang="{language}">', 1)
    if local is not None and not local.token:
        content = content.replace('name="biem-access" content="key"', 'name="biem-access" content="open"', 1)
    return Response(content, media_type="text/html", headers={"Vary": "Accept-Language"})


def preferred(accepted: str) -> str:
    """The language of `LANGUAGES` that an Accept-Language header ranks first."""
    ranked: dict[str, float] = {}
    for part in accepted.split(","):
        if found := _RANGE.fullmatch(part):
            ranked.setdefault(found[1].lower(), float(found[2] or 1))
    wanted = [language for language in LANGUAGES if ranked.get(language, 0) > 0]
    return max(wanted, key=lambda language: ranked[language], default=LANGUAGES[0])


def _sender(path: str, file: Traversable) -> Callable[[Request], Response]:
    kind = _TYPES[path.rpartition(".")[2]]

    def send(_: Request) -> Response:
        return Response(file.read_bytes(), media_type=kind)

    return send
