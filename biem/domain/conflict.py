"""Conflicts between memories: statements and the verdict on a pair of them."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, get_args

ConflictKind = Literal["contradiction", "update", "duplicate"]
"""*contradiction*: both cannot hold. *update*: the newer says that the older no longer holds. *duplicate*: both say the
same."""


READ_TOGETHER = "read together"
"""The rule of verdicts by a model that reads both messages."""


@dataclass(frozen=True, slots=True)
class Statement:
    """One memory as input of the rules."""

    text: str
    speaker: str = ""
    """The speaker: resolves "I" and "我". Empty for a plain fact."""
    at: datetime | None = None
    """When it was said. The caller orders the two; a rule may only test whether the order is certain."""
    follows: bool = False
    """Whether it was said right after the other one, by the same speaker in the same conversation: a correction
    without a subject then refers to that one.
    """
    changed: float | None = None
    """Log-odds, by its vector, that it tells of a change; None where unknown."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """A pair of statements conflicts, or says the same."""

    kind: ConflictKind
    confidence: float
    """0 to 1: the estimated share of such verdicts that are right."""
    rule: str
    """The rule that decided, for people and tests: `value`, `negation`, …"""
    attribute: str = ""
    """The attribute in dispute, where a rule knows it: `home`, `age`, …"""
    partial: bool = False
    """The older text makes further, undisputed claims, which superseding it would lose."""
    claim: str = ""
    """The disputed claim in a partial verdict's older text; empty for the whole text, or where unknown."""
    subject: str = ""
    """The person and attribute that both are about, where established: `me: birthday`, `me.mother: home`."""
    aligned: bool = False
    """Both are in their speaker's own words and about the same persons and the same thing. Only then may a rule
    alone supersede the older statement.
    """

    def __post_init__(self) -> None:
        if not 0.0 <= self.confidence <= 1.0:
            raise ValueError(f"confidence {self.confidence} is not within 0 and 1")


@dataclass(frozen=True, slots=True)
class Matter:
    """The persons and attributes that a text is about."""

    persons: frozenset[str] = frozenset()
    """`me` for the speaker and `you` for the person addressed; `me.mother`, `jana`. Empty where it names no person."""
    attributes: frozenset[str] = frozenset()
    """The single-valued attributes of a person that it states: `home`, `employer`, `birthday` …"""
    past: bool = False
    """It describes the past."""
    topics: frozenset[str] = frozenset()
    """The topics of its statement or question, in words of either language: `home`, `password`, `pet` …"""
    things: frozenset[str] = frozenset()
    """Stems of the things it mentions, without persons, numbers and the words of attributes."""
    kinds: frozenset[str] = frozenset()
    """Those of the things of which a person may have several: a code, a cat."""
    which: frozenset[str] = frozenset()
    """What distinguishes one of several: outbound, second; and labels, as `#2` for machine 2."""
    numbers: frozenset[str] = frozenset()
    """Its numbers, dates, weekdays and codes, written alike in every language."""
    holds: bool = True
    """It asserts a fact: no report, question, hypothesis, plan, wish or joke."""
    open: bool = False
    """It decides nothing: a question, hypothesis, plan, wish, dream or joke. A report may decide."""
    changes: bool = False
    """It states that something changed since it was last said."""
    wants: frozenset[str] = frozenset()
    """The kind of value that a question asks for: `time`, `amount`, `digits`, `name`, and in English `age`, `span`,
    `often` and `place`. Empty if unknown."""
    gives: frozenset[str] = frozenset()
    """The kinds of value that it contains."""
    called: frozenset[tuple[str, str]] = frozenset()
    """Relatives and the names that it gives them: `("me.brother", "jonas")`."""


@dataclass(frozen=True, slots=True)
class Dispute:
    """A pending conflict, from the view of one of its two memories."""

    confidence: float
    """0 to 1, of the verdict."""
    newer_id: str = ""
    """The memory that contradicts it; empty for the newer of the two."""
    since: datetime | None = None
    """Start of the validity of that memory."""
    claim: str = ""
    """As in `Verdict`."""


ConflictStatus = Literal["pending", "resolved", "ignored"]
Resolution = Literal["keep_new", "keep_old", "merge", "keep_both"]
"""*keep_new*: the older ends where the newer begins. *keep_old*: the newer was never valid. *merge*: a third memory
states both, valid from when the newer was said. *keep_both*: no conflict after all.
"""
Decider = Literal["rule", "judge", "user"]
Standing = Literal["own_words", "open"]
"""*own_words*: both are their speaker's own words, no report, question, hypothesis or wish, on which a rule decided.
*open*: no decision rests on that.
"""
RESOLUTIONS: tuple[str, ...] = get_args(Resolution)
STATUSES: tuple[str, ...] = get_args(ConflictStatus)


_HAN = re.compile("[\u4e00-\u9fff]")
_ENGLISH = {
    "contradiction": "These two cannot both hold{about} (rule: {rule}, {sure} % sure). ",
    "update": "The newer one changes what the older one says{about} (rule: {rule}, {sure} % sure). ",
    "duplicate": "Both say the same{about} (rule: {rule}, {sure} % sure). ",
    "pending": "Nothing is decided: prompts show both, with their times.",
    "ignored": "Decided by {by}: it is no conflict.",
    "keep_new": "{own}Decided by {by}: the newer one holds.",
    "keep_old": "Decided by {by}: the older one holds.",
    "merge": "Decided by {by}: a third memory says both.",
    "keep_both": "Decided by {by}: both hold.",
    "rule": "the rule",
    "judge": "a language model",
    "user": "a person",
    "own": "Both are the speaker's own words about the same thing. ",
    "about": " about {}",
    "me": "you",
    "me.": "your ",
}
_CHINESE = {
    "contradiction": "两条{about}不能同时成立（规则：{rule}，把握 {sure}%）。",
    "update": "新的一条{about}改变了旧的一条所说的（规则：{rule}，把握 {sure}%）。",
    "duplicate": "两条{about}说的是同一件事（规则：{rule}，把握 {sure}%）。",
    "pending": "尚未决定：两条都会带时间列出。",
    "ignored": "由{by}决定：不算冲突。",
    "keep_new": "{own}由{by}决定：以新的为准。",
    "keep_old": "由{by}决定：以旧的为准。",
    "merge": "由{by}决定：合并为第三条。",
    "keep_both": "由{by}决定：两条都成立。",
    "rule": "规则",
    "judge": "语言模型",
    "user": "用户",
    "own": "两条都是说话人自己说的，说的是同一件事。",
    "about": "关于{}",
    "me": "你",
    "me.": "你的",
}
_WORD = re.compile("[a-z]+")
_SELF = re.compile(r"^i(?=$| )", re.IGNORECASE)
"""The speaker, as some rules name him: "i", "i mother"."""
_RELATIVES = (
    ("mother", "妈妈"), ("father", "爸爸"), ("wife", "老婆"), ("husband", "老公"), ("girlfriend", "女朋友"),
    ("boyfriend", "男朋友"), ("brother", "兄弟"), ("sister", "姐妹"), ("son", "儿子"), ("daughter", "女儿"),
    ("grandmother", "奶奶"), ("grandfather", "爷爷"), ("uncle", "叔叔"), ("aunt", "阿姨"), ("cousin", "表亲"),
    ("friend", "朋友"), ("colleague", "同事"), ("boss", "老板"), ("roommate", "室友"), ("neighbour", "邻居"),
    ("dog", "狗"), ("cat", "猫"),
)  # fmt: skip
_ATTRIBUTES = (
    ("home", "住处"), ("origin", "籍贯"), ("job", "职业"), ("employer", "工作单位"),
    ("school", "学校"), ("sport", "运动"), ("diet", "饮食"), ("car", "车"), ("name", "名字"), ("favourite", "最喜欢的"),
    ("liking", "喜好"), ("trip", "行程"), ("weight", "体重"), ("run", "跑步"), ("birthday", "生日"), ("due", "期限"),
    ("code", "密码"), ("appointment", "预约"), ("amount", "金额"), ("age", "年龄"), ("phone", "电话"),
    ("relationship", "感情状况"), ("email", "邮箱"), ("hometown", "家乡"), ("price", "价格"), ("deadline", "截止日期"),
    ("date", "日期"), ("place", "地点"), ("account", "账号"), ("major", "专业"), ("colour", "颜色"), ("size", "大小"),
    ("blood", "血型"), ("zodiac", "星座"), ("language", "语言"), ("status", "状态"), ("model", "型号"),
    ("head", "负责人"), ("identity", "身份"),
)  # fmt: skip
"""Relatives and attributes, as the rules name them, in both languages."""
_TO_CHINESE = dict(_RELATIVES + _ATTRIBUTES)
_TO_ENGLISH = {chinese: english for english, chinese in _RELATIVES + _ATTRIBUTES}
_IS_ATTRIBUTE = frozenset(name for pair in _ATTRIBUTES for name in pair)


@dataclass(frozen=True, slots=True)
class _Subject:
    """A subject in words of one language; each part is empty where it is not established."""

    possessor: str = ""
    entity: str = ""
    attribute: str = ""


def _in_words(subject: str, told: Mapping[str, str], texts: str) -> _Subject:
    """The parts of a subject: `me.mother: home` is "your mother" and "home". Rules name things by the stems of words;
    here they are words of the texts.
    """
    persons, found, what = subject.partition(": ")
    if not found and _SELF.sub("me", subject).partition(".")[0] != "me":
        persons, what = "", subject
    word = (_TO_CHINESE if told is _CHINESE else _TO_ENGLISH).get
    possessor = ", ".join(_person(one, told) for one in persons.split(" and ") if one)
    attributes = bool(what) and _IS_ATTRIBUTE.issuperset(what.split())
    what = " ".join(word(one, one if attributes else _word_of(one, texts)) for one in what.split())
    return _Subject(possessor, "", what) if attributes else _Subject(possessor, what)


def _word_of(stem: str, texts: str) -> str:
    """The shortest English word of the texts that has this stem: `lorri` is that of "lorry". The stem if none has."""
    begins = (stem, f"{stem[:-1]}y") if stem.endswith("i") else (stem,)
    return min((word for word in _WORD.findall(texts.lower()) if word.startswith(begins)), key=len, default=stem)


def _about(subject: _Subject, told: Mapping[str, str]) -> str:
    """The persons and the thing or attribute, as part of a sentence: " about your mother (home)"."""
    what = subject.entity or subject.attribute
    shown = subject.possessor + (f" ({what})" if what and subject.possessor else what)
    return told["about"].format(shown) if shown else ""


def _person(name: str, told: Mapping[str, str]) -> str:
    name = _SELF.sub("me", name).replace("me ", "me.", 1)
    if name == "me":
        return told["me"]
    owner, dot, kin = name.partition(".")
    kin = (_TO_CHINESE if told is _CHINESE else _TO_ENGLISH).get(kin, kin)
    return f"{told['me.'] if owner == 'me' else owner + dot}{kin}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Conflict:
    """Two memories of one scope that conflict or say the same, and the decision about them."""

    id: str
    kind: ConflictKind
    older_id: str
    newer_id: str
    older_text: str
    newer_text: str
    confidence: float
    """0 to 1, of the verdict."""
    rule: str
    attribute: str = ""
    """The attribute in dispute, in English, as in `Verdict`; that of `subject` where the rule named none."""
    status: ConflictStatus = "pending"
    resolution: Resolution | None = None
    decided_by: Decider | None = None
    """Who resolved or ignored it."""
    merged_id: str | None = None
    """The memory created by a merge."""
    created_at: datetime
    resolved_at: datetime | None = None
    moot: bool = False
    """Pending, but one of the two was archived or superseded otherwise: no decision is needed."""

    suspected: bool = False
    """Too uncertain to show to a person; a language model may judge it."""
    subject: str = ""
    """As in `Verdict`."""
    possessor: str = ""
    """Derived, as all that follows, in the language of the newer text (but `attribute`); a given value is replaced.

    The persons that both are about: "you", "your mother". Empty where not established.
    """
    entity: str = ""
    """The thing or event that both are about, in words of the two; empty for an attribute of the persons."""
    standing: Standing = "open"
    explanation: str = ""
    """Why the two are recorded, and the decision: a sentence or two."""

    def __post_init__(self) -> None:
        told = _CHINESE if _HAN.search(self.newer_text) else _ENGLISH
        subject = _in_words(self.subject, told, f"{self.newer_text} {self.older_text}")
        own = self.decided_by == "rule"
        decision = self.resolution or ("pending" if self.status == "pending" else "ignored")
        found = told[self.kind].format(about=_about(subject, told), rule=self.rule, sure=round(100 * self.confidence))
        decided = told[decision].format(by=told.get(self.decided_by or "", ""), own=told["own"] if own else "")
        derived = {
            "possessor": subject.possessor,
            "entity": subject.entity,
            "attribute": self.attribute or " ".join(_TO_ENGLISH.get(one, one) for one in subject.attribute.split()),
            "standing": "own_words" if own else "open",
            "explanation": found + decided,
        }
        for name, value in derived.items():
            object.__setattr__(self, name, value)

    @property
    def superseded(self) -> tuple[str, ...]:
        """The memories superseded by this decision."""
        if self.resolution == "merge":
            return (self.older_id, self.newer_id)
        losers = {"keep_new": (self.older_id,), "keep_old": (self.newer_id,)}
        return losers.get(self.resolution or "", ())
