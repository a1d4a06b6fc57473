"""The tags of a note and of its chunks, from five sources."""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence

from biem.domain.note import FrontMatter, NoteTags
from biem.domain.text import late
from biem.notes.placeholder import HOLE

_LONGEST = 100
"""Characters of a tag; a longer heading or name is a sentence."""
_LONGEST_BOLD = 24
_EXTENSION = late(r"\.(?:mdx?|markdown)$", re.IGNORECASE)
_PREFIX = late(
    r"^(?:(?:19|20)\d\d[-_./]\d{1,2}(?:[-_./]\d{1,2})?|(?:19|20)\d\d(?:0[1-9]|1[0-2])(?:[0-2]\d|3[01])"
    r"|(?:19|20)\d\d(?:0[1-9]|1[0-2])(?:[0-2]\d|3[01])T?[0-2]\d[0-5]\d(?:[0-5]\d)?|\d{6,14}(?=[-_])"
    r"|(?:19|20)\d\d年(?:\d{1,2}月(?:\d{1,2}日)?)?|\d{1,3}(?:\.\d{1,3}){0,3})(?=$|[-_. )、．])[-_. )、．]{0,8}"
)
"""A date or a number before a name: `2025-03-14 meeting`, `01_basics`, `2.1 setup`, `03、总结`; also a time that a card
is known by, and the number that an export puts before a page: `202503140930 hydration`, `123456_Setup`.
"""
_SUFFIX = late(r"(?:(?:^|[ _-])[0-9a-f]{32}|(?<=\S)_\d{6,14})$")
"""What exports put behind a name to keep it apart from others."""
_NUMBER = late(r"[\d\W_]*")
_NAMESPACE = "___"
"""Logseq's sign for a `/` in the name of a page."""
_QUOTES = late(
    r"“([^“”\n。！？；，、!?;,:：]{2,24})”"
    r"|「([^「」\n。！？；，、!?;,:：]{2,24})」"
    r"|『([^『』\n。！？；，、!?;,:：]{2,24})』"
    r"|《([^《》\n。！？；!?;]{2,24})》"
    r'|"([^"\n。！？；，、!?;,:：]{2,24})"'
)
_LINK = late(r"\[\[([^\[\]\n|#^\\]{1,100})(?:[#^][^\[\]\n|\\]{0,200})?(?:\\?\|[^\[\]\n]{0,200})?\]\]")
_HASH = late(r"(?<![\w/&#(\[])#([\w/-]{1,64})")
_EDGES = " \t:：*_#.,;，。、；…-–—"

_IDLE_WORDS = """
    内容 简介 介绍 概述 概要 说明 其他 其它 其他内容 前言 序言 引言 正文 总结 小结 结语 结论 附录 参考 参考资料
    参考文献 参考链接 目录 背景 备注 注意 注意事项 提示 示例 例子 详情 详细 详细说明 更多 相关 相关链接 相关内容 待办
    未分类 杂项 笔记 文档 标题 新建文档 未命名 无标题 基本信息 信息 问题 常见问题 更新 更新日志 第一章 第二章 第三章
    overview, introduction, intro, summary, misc, miscellaneous, other, others, content, contents, detail, details,
    general, info, information, note, notes, more, about, background, appendix, reference, references, see also, toc,
    table of contents, example, examples, warning, tip, tips, todo, untitled, new document, readme, index, main,
    main text, text, description, conclusion, preface, foreword, important, remark, remarks, link, links, changelog,
    further reading, read more
"""
IDLE = frozenset(" ".join(word.split()) for word in re.split(r",|(?<=[^\x00-\x7f])\s", _IDLE_WORDS)) - {""}
"""Headings and names that say nothing about their subject: no tags, though they stay in the chain."""


def identity(name: str) -> str:
    """What two spellings of one tag share: compatibility forms and letter case do not count."""
    return " ".join(unicodedata.normalize("NFKC", name).split()).casefold()


def is_idle(name: str) -> bool:
    """Whether it says nothing about a subject: an empty word such as 概述 or "misc", or digits and marks only."""
    return _is_idle(name, identity(name))


def _is_idle(name: str, key: str) -> bool:
    """The same, where the identity is known."""
    return key.strip(_EDGES) in IDLE or _NUMBER.fullmatch(name) is not None


def stem(path: str) -> str:
    """The file's name without extension and without a date or number before it; may be empty."""
    return _page(path).rpartition(_NAMESPACE)[2].strip()


def path_tags(path: str) -> list[str]:
    """The directories of a path and the file name, outermost first; `/` and `\\` both separate."""
    *directories, _ = path.replace("\\", "/").split("/")
    return [*filter(None, map(_named, directories)), *filter(None, map(str.strip, _page(path).split(_NAMESPACE)))]


def _page(path: str) -> str:
    return _named(_EXTENSION.sub("", path.replace("\\", "/").rpartition("/")[2]))


def note_tags(path: str, front: FrontMatter, title_heading: str, *, most: int) -> NoteTags:
    """The tags that all chunks of a note have. `title_heading` is its h1 where it has one only, else empty."""
    nested = [part for tag in front.tags for part in tag.strip("#").split("/")]
    taken = _Taken(most)
    at_path = taken.new([*path_tags(path), *front.aliases, *nested], least=1)
    return NoteTags(path=at_path, heading=taken.new([title_heading]))


def chunk_tags(
    inherited: NoteTags,
    *,
    headings: Iterable[str],
    texts: Sequence[str],
    bold: Iterable[str],
    keywords: Iterable[str],
    most: int,
) -> NoteTags:
    """A chunk's own tags, at most `most` together with the inherited ones: the heaviest sources go first.

    `texts` are the plain texts of its blocks.
    """
    taken = _Taken(most, inherited.all)
    return NoteTags(
        heading=taken.new(headings),
        name=taken.new(name for text in texts for name in names(text)),
        bold=taken.new(label for text in bold if (label := _label(text))),
        keyword=taken.new(keywords),
    )


def names(text: str) -> Iterator[str]:
    """Proper nouns by their marks: what stands in quotes or 《》, `[[targets]]` of links, `#tags`."""
    for found in _QUOTES.finditer(text):
        name = next(filter(None, found.groups()))
        if name == name.strip() and HOLE not in name and ". " not in name and not name.endswith("."):
            yield name
    for found in _LINK.finditer(text):
        yield stem(found[1])
    for found in _HASH.finditer(text):
        if not _NUMBER.fullmatch(found[1]):
            yield from found[1].strip("/-").split("/")


def _label(bold: str) -> str:
    """Bold text as a tag: a label such as `元素属性：`; empty for a sentence."""
    label = bold.strip(_EDGES)
    if not 2 <= len(label) <= _LONGEST_BOLD or HOLE in label or re.search(r"[。！？；，!?;,\n]|\. ", label):
        return ""
    return label


def _named(part: str) -> str:
    """A directory's or file's name without a date or number before it, and without what an export puts behind it."""
    left = _SUFFIX.sub("", _PREFIX.sub("", part.strip()).strip())
    return "" if _NUMBER.fullmatch(left) else left


class _Taken:
    """The tags of one chunk: each once, in the order of the sources, up to the limit."""

    def __init__(self, most: int, taken: Iterable[str] = ()) -> None:
        self._seen = {identity(name) for name in taken}
        self._most = most

    def new(self, candidates: Iterable[str], *, least: int = 2) -> tuple[str, ...]:
        """Those of at least this many characters that are tags and not taken yet, as they are shown."""
        found = []
        for candidate in candidates:
            if len(self._seen) >= self._most:
                break
            name = " ".join(candidate.split())
            if not least <= len(name) <= _LONGEST:
                continue
            key = identity(name)
            if key not in self._seen and not _is_idle(name, key):
                self._seen.add(key)
                found.append(name)
        return tuple(found)
