"""The text of a chunk that is embedded and searched by words."""

import html
import re
from collections.abc import Sequence

from biem.domain.note import CHAIN_MARK

_FENCE = re.compile(r" {0,3}(```|~~~)")
_COMMENT = re.compile(r"<!--[^-]*+(?:-(?!->)[^-]*+)*+-->")
_IMAGE = re.compile(
    r"!\[([^\[\]\n]{0,500}+)\](?:\((?:[^()\n]|\([^()\n]{0,200}\)){0,2000}+\)|\[[^\[\]\n]{0,200}+\])"
    r"|!\[\[[^\[\]\n|]{1,200}?\.(?:png|jpe?g|gif|svg|webp|bmp|pdf|mp[34])(?:\|[^\[\]\n]{0,200}+)?\]\]"
)
_DATA = re.compile(r"\bdata:[\w.+/-]{1,80};base64,[\w+/=%-]*+")
_ENCODED = re.compile(r"(?<![\w+/])[A-Za-z0-9+/]{120,}+={0,2}")
"""Bytes as letters, such as the drawings that editors keep in a note: no word stands in them."""
_MARKUP = re.compile(
    r"(`[^`\n]{0,500}+`)|(&(?:[a-z]{2,8}|#[0-9]{2,7}|#x[0-9a-f]{2,6});)|</?(?:a|abbr|aside|b|big|blockquote|br|center|code|col|colgroup|dd|del|details|div|dl|dt|em|figcaption"
    r"|figure|font|h[1-6]|hr|i|iframe|img|ins|kbd|li|mark|ol|p|picture|pre|q|s|small|source|span|strong|sub|summary|sup"
    r"|table|tbody|td|tfoot|th|thead|tr|u|ul|video)(?:\s[^<>]{0,2000}+)?/?>",
    re.IGNORECASE,
)
"""Tags of HTML that say how a text looks, and characters by their names, outside of code within a line."""
_ALT = re.compile(r"<img\s[^<>]{0,2000}?\balt=([\"'])([^\"'<>]{0,500})\1", re.IGNORECASE)
_BLOCK_ID = re.compile(
    r"^[ \t]{0,40}+(?:[-*][ \t]++)?(?:id|collapsed)::[^\n]*+$|\(\([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\)\)"
    r"|(?<=[^\s^])[ \t]\^(?=[0-9-]{0,40}[A-Za-z])[A-Za-z0-9-]{3,40}$",
    re.MULTILINE,
)
"""What Logseq and Obsidian know blocks by: `id:: …`, `((…))`, ` ^block-id`."""
_H3 = re.compile(r" {0,3}###[ \t]")


def indexed_text(headings: Sequence[str], body: str) -> str:
    """The headings of a chunk on one line and its body below, without comments, addresses of images and tags of HTML.

    An h3 that begins the body and ends the headings is written once. The path is no part of it: a file that is moved
    needs no new vector.
    """
    if headings and _H3.match(body) and headings[-1] in body.partition("\n")[0]:
        headings = headings[:-1]
    return "\n".join(filter(None, [CHAIN_MARK.join(headings), _said(body)]))


def _said(body: str) -> str:
    """What the body says; code stays as it is."""
    if "```" not in body and "~~~" not in body:
        return _shown(body).strip("\n")
    parts: list[str] = []
    prose: list[str] = []
    fence = ""
    for line in body.splitlines(keepends=True):
        mark = _FENCE.match(line)
        if mark and fence in ("", mark[1]):
            fence = "" if fence else mark[1]
        if mark or fence:
            parts += [_shown("".join(prose)), _ENCODED.sub("", line)]
            prose = []
        else:
            prose.append(line)
    return "".join([*parts, _shown("".join(prose))]).strip("\n")


def _shown(prose: str) -> str:
    if "<!--" in prose:
        prose = _COMMENT.sub("", prose)
    if "![" in prose:
        prose = _IMAGE.sub(lambda image: image[1] or "", prose)
    if "::" in prose or "((" in prose or " ^" in prose:
        prose = _BLOCK_ID.sub("", prose)
    if "<" in prose or "&" in prose:
        prose = _MARKUP.sub(_without_tag, prose)
    return _ENCODED.sub("", _DATA.sub("", prose) if "data:" in prose else prose)


def _without_tag(found: re.Match[str]) -> str:
    """Code as it is; the character of a name; of an image its alternative text; for any other tag a space."""
    if found[1] or found[2]:
        return found[1] or html.unescape(found[2])
    alt = _ALT.match(found[0])
    return alt[2] if alt else " "
