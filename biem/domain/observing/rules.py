"""What a sentence of the user states for later: rules in English and Chinese, without a model.

A habit or an order in the user's own words is the only way into the layer core. Questions, courtesies, quotations,
suppositions and statements about others give nothing.
"""

import re
from collections.abc import Iterator, Mapping

from biem.domain.observing import orders, patterns
from biem.domain.observing.category import Category
from biem.domain.observing.unit import Unit
from biem.domain.speech.acts import is_courtesy, is_standing_order, is_statement
from biem.domain.text import part_of, simplified


def recognise(text: str, categories: Mapping[str, Category]) -> Iterator[Unit]:
    """The statements of a message that are worth keeping, in order; none for small talk and questions.

    `categories`: by name; their own patterns are tried after the rules.
    """
    written = patterns.QUOTED.sub(_unquoted, text[: patterns.LONGEST_READ].replace("’", "'"))
    plain = simplified(written)
    for found in patterns.SENTENCES.finditer(plain):
        sentence = found[0].strip()
        if not 4 <= len(sentence) <= patterns.LONGEST_SENTENCE or "…" in sentence:
            continue
        first = patterns.WHY_FIRST.match(sentence)
        said = first["said"] if first else sentence
        known = _rule(said) or _own(said, categories)
        if known is None or not _may_state(said):
            continue
        name, rule, confidence = known
        category = categories[name]
        kind = patterns.KINDS.get(rule, category.kind)
        strong = rule in ("habit", "order", "persona")
        layer = "long_term" if category.layer == "core" and not strong and name in ("preference",) else category.layer
        why = first or patterns.WHY.match(sentence)
        judgment = _content(why["said"].strip(" ,，;；") if why else sentence)
        if (kind == "emotion" and why is None) or (kind == "event" and patterns.BY_ASSISTANT.search(judgment)):
            continue
        yield Unit(
            text=part_of(written, sentence),
            judgment=part_of(written, judgment.rstrip("。.!！；; ")),
            reason=part_of(written, why["why"].strip()) if why else "",
            category=name,
            kind=kind,
            layer=layer,
            level=attributed(said, name),
            rule=rule,
            confidence=confidence,
            ttl_days=category.ttl_days,
        )


def proposed(judgment: str, reason: str, categories: Mapping[str, Category]) -> Unit | None:
    """The unit of a statement that a model proposes; None where it is no whole statement.

    It is general knowledge, or the project's; only rules recognise what is core.
    """
    sentence = judgment.strip()
    if not patterns.LEAST_CONTENT <= len(sentence) <= patterns.LONGEST_SENTENCE or not _may_state(sentence):
        return None
    level = attributed(sentence, "knowledge")
    category = categories["knowledge" if level == "user" else "project"]
    return Unit(
        text=sentence,
        judgment=sentence.rstrip("。.!！；; "),
        reason=reason,
        category=category.name,
        kind=category.kind,
        layer="long_term" if category.layer == "core" else category.layer,
        level=level,
        rule="model",
        confidence=0.5,
        ttl_days=category.ttl_days,
    )


def attributed(sentence: str, category: str) -> str:
    """Whose a statement is, `user` or `project`: a path, a word for the project or a decision says project.

    A preference, an order and general knowledge are the user's; undecided ones are the project's.
    """
    if has_path(sentence) or patterns.PROJECT.search(sentence) or category == "decision":
        return "project"
    return "user" if category in ("preference", "rule", "persona", "knowledge") else "project"


def has_path(sentence: str) -> bool:
    """Whether a sentence names a file or a folder; addresses and fractions do not count."""
    return patterns.PATH.search(patterns.URL.sub(" ", sentence)) is not None


def _content(sentence: str) -> str:
    """A note or a task without the words that say it is one."""
    content = patterns.LABEL.sub(
        "", patterns.NOTE_ZH.sub("", patterns.NOTE.sub("", sentence, count=1), count=1), count=1
    )
    content = sentence if content == sentence else patterns.SEPARATOR.sub("", content, count=1)
    return content if len(content) >= patterns.LEAST_CONTENT else sentence


def _may_state(sentence: str) -> bool:
    if patterns.EMPTY.match(sentence):
        return False
    if (
        patterns.LIST.match(sentence)
        or patterns.SELF_QUESTION.search(sentence)
        or patterns.SUPPOSED.search(sentence)
        or is_courtesy(sentence)
    ):
        return False
    asked = (
        patterns.TASK,
        patterns.TASK_ZH,
        patterns.NOTE,
        patterns.NOTE_ZH,
        patterns.PERSONA,
        patterns.PERSONA_ZH,
        patterns.DECISION,
        orders.STANDING,
        orders.STANDING_ZH,
    )  # requests in form, statements in effect
    return is_statement(sentence) or is_standing_order(sentence) or any(pattern.match(sentence) for pattern in asked)


def _rule(sentence: str) -> tuple[str, str, float] | None:
    """Category, rule and confidence of the first rule that recognises a sentence."""
    if patterns.TASK.match(sentence) or patterns.TASK_ZH.match(sentence):
        return "task", "task", 0.85
    if patterns.PERSONA.match(sentence) or patterns.PERSONA_ZH.match(sentence):
        return "persona", "persona", 0.9
    if patterns.NOTE.match(sentence) or patterns.NOTE_ZH.match(sentence):
        rest = _content(sentence)
        return ("rule", "order", 0.8) if rest != sentence and sureness_of_order(rest) else ("note", "note", 0.9)
    if sureness := sureness_of_order(sentence):
        return "rule", "order", sureness
    if patterns.DECISION.match(sentence) or patterns.DECISION_ZH.match(sentence):
        return "decision", "decision", 0.85
    if patterns.HABIT.match(sentence) or patterns.HABIT_ZH.match(sentence):
        return ("preference", "like", 0.7) if patterns.RESERVED.search(sentence) else ("preference", "habit", 0.9)
    if patterns.LIKES.match(sentence) or patterns.LIKES_ZH.match(sentence):
        return "preference", "like", 0.7
    if patterns.SKILL.match(sentence) or patterns.SKILL_ZH.match(sentence):
        return "knowledge", "skill", 0.75
    if patterns.FEELING.match(sentence) or patterns.FEELING_ZH.match(sentence):
        return "note", "feeling", 0.6
    if patterns.KNOWLEDGE.search(sentence) or patterns.KNOWLEDGE_ZH.search(sentence):
        return "knowledge", "knowledge", 0.75
    if (patterns.PROJECT.search(sentence) or has_path(sentence)) and patterns.STATES.search(sentence):
        return "project", "project", 0.7
    return None


def sureness_of_order(sentence: str) -> float:
    """How sure it is that a sentence is an order for every time, 0 for none."""
    if orders.NO_ORDER.match(sentence):
        return 0.0
    if is_standing_order(sentence):
        return 0.9
    return 0.8 if orders.STANDING.match(sentence) or orders.STANDING_ZH.match(sentence) else 0.0


def _unquoted(found: re.Match[str]) -> str:
    """A quotation as a mark that its sentence has one; a word or two that are only named stay."""
    named, before = patterns.NAMED.fullmatch(found[0]), found.string[: found.start()][-20:]
    if (
        named
        and patterns.INSIDE.search(before)
        and len(named["inside"].split()) <= patterns.WORDS_NAMED
        and not patterns.SAYS.search(before)
    ):
        return found[0]
    return "\n" * found[0].count("\n") + "…"


def _own(sentence: str, categories: Mapping[str, Category]) -> tuple[str, str, float] | None:
    """The same for the patterns of categories."""
    for category in categories.values():
        if any(re.search(pattern, sentence, re.IGNORECASE) for pattern in category.patterns):
            return category.name, f"pattern:{category.name}", 0.7
    return None
