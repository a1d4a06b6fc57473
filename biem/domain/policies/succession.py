"""The weights by which a block decides whether a later line tells how the matter of an earlier one stands now."""

from dataclasses import dataclass

from biem.domain.policies.confidence import require_finite


@dataclass(frozen=True, slots=True)
class SuccessionWeights:
    """Log-odds per unit of each feature; see `biem.engine.context.currency.succession`.

    Fitted by `benchmarks.fit_succession` to the lines of lives, made ones and those written by hand (ADR 0055).
    """

    bias: float = -4.858
    alike: float = 2.498
    """Likeness of the two lines, 0 to 1."""
    nearest_before: float = 2.317
    """`alike` minus the likeness of the later line to its closest earlier line: 0 if that is this one."""
    nearest_after: float = 2.214
    """`alike` minus the likeness of the earlier line to its closest later line."""
    nearer: float = -0.736
    """Later lines that are more like the earlier line, in fifths."""
    later_like: float = 4.142
    """Likeness of the later line to the question …"""
    earlier_like: float = 0.682
    """… and of the earlier line."""
    ahead: float = 0.332
    """Worth of the later line minus that of the earlier, within ±10."""
    says_change: float = -0.008
    """1 if words of the later line state a change."""
    changed: float = 0.234
    """Log-odds, by its vector, that the later line tells of a change …"""
    changed_before: float = -0.160
    """… and that the earlier does."""
    changed_alike: float = 0.275
    """`changed` times `alike`."""
    says_change_alike: float = -0.406
    """`says_change` times `alike`."""
    says_change_of_it: float = 1.364
    """1 if words of the later line state a change, and both state one attribute of a person."""
    alike_asked: float = 1.120
    """`alike` times `earlier_like`."""
    soon: float = -1.645
    """1 if the later line was said less than twelve hours after the earlier."""
    past: float = -1.164
    """1 if the later line tells of the past."""
    other_person: float = -0.177
    """1 if the later line is about other persons than the question, more than the earlier is, and names no thing of
    that."""
    same_person: float = 0.315
    """1 if it names a person besides the user that the earlier line or the question names, too."""
    other_relative: float = -0.660
    """1 if both name relatives, and not the same."""
    other_kind: float = -0.473
    """1 if it names another kind of thing than the one in question, which the earlier names."""
    gives: float = 0.721
    """1 if it has a value of the requested kind where the earlier has one."""
    names: float = 0.924
    """1 if both name a thing that few lines name and the question does not."""
    translated: float = 0.382
    """1 if the two are in different scripts."""
    covers: float = 2.882
    """Share of the earlier line's index terms that the later one has, by their rarity among the lines."""
    changed_covers: float = 1.031
    """`changed` times `covers`."""
    later_asked: float = 0.253
    """Of the question's index terms that any line has, the share that the later line has, likewise …"""
    earlier_asked: float = 1.020
    """… and that the earlier has."""
    own_words: float = 0.302
    """Number of index terms, at most 2, that these two lines alone have, and the question does not."""
    near_numbers: float = 0.552
    """Of their nearest two unequal numbers the square of the smaller by the larger; 0 if one line has none."""
    lacks_asked: float = 1.044
    """1 if the later line has some of the question's index terms that the earlier has, and lacks others: the vet
    of the dog, where that of the cat is asked for."""
    lacks_asked_alike: float = -2.070
    """`lacks_asked` times `alike`."""
    part_asked: float = -2.355
    """Of these the share that only the earlier of the two has, times the share that both have."""
    other_thing: float = -0.035
    """1 if the later line names things and the earlier one a thing in question, and they have none in common."""
    nearer_words: float = -0.375
    """1 if another earlier line has a larger share of index terms in common with the later one (Jaccard)."""

    def __post_init__(self) -> None:
        require_finite(self)


@dataclass(frozen=True, slots=True)
class RetoldWeights:
    """The same where the question tells the earlier line again, so that it has all of its words and nearly its vector.

    Then how like the question the lines are says little, and whether the later one tells of a change says more. Fitted
    by `benchmarks.fit_retold` to lives and pairs of messages, asked for with the earlier message itself; the bias
    is lowered by 1.6, so that the thresholds of other questions serve.
    """

    bias: float = 0.18
    alike: float = 0.91
    """Likeness of the two lines, 0 to 1."""
    nearest_before: float = 3.73
    """`alike` minus the likeness of the later line to its closest earlier line."""
    nearest_after: float = 5.27
    """`alike` minus the likeness of the earlier line to its closest later line."""
    nearer_words: float = -0.76
    """1 if another earlier line has a larger share of index terms in common with the later one (Jaccard)."""
    ahead: float = 0.41
    """Worth of the later line minus that of the earlier, within ±10."""
    changed: float = 0.48
    """Log-odds, by its vector, that the later line tells of a change …"""
    changed_before: float = -0.17
    """… and that the earlier does."""
    says_change_of_it: float = 1.5
    """1 if words of the later line state a change, and both state one attribute of a person."""
    adds: float = -2.64
    """1 if words of the later line add it to what is known: also, another one, 除了."""
    lacks_asked: float = 0.37
    """1 if the later line has some of the earlier one's index terms, and lacks others."""
    near_numbers: float = 1.85
    """Of their nearest two unequal numbers the square of the smaller by the larger; 0 if one line has none."""
    other_person: float = -0.87
    """1 if the later line is about other persons than the earlier, and names no thing of that."""
    other_kind: float = 0.32
    """1 if it names another kind of thing."""
    other_thing: float = -0.67
    """1 if both name things, and none in common."""

    def __post_init__(self) -> None:
        require_finite(self)
