"""The weights by which a block decides whether a later line tells how the matter of an earlier one stands now."""

from dataclasses import dataclass

from biem.domain.policies.confidence import require_finite


@dataclass(frozen=True, slots=True)
class SuccessionWeights:
    """Log-odds per unit of each feature; see `biem.engine.context.succession`.

    Fitted by `benchmarks.fit_succession` to the lines of lives, made ones and those written by hand (ADR 0055).
    """

    bias: float = -5.011
    alike: float = 3.122
    """Likeness of the two lines, 0 to 1."""
    nearest_before: float = 1.049
    """`alike` minus the likeness of the later line to its closest earlier line: 0 if that is this one."""
    nearest_after: float = 2.123
    """`alike` minus the likeness of the earlier line to its closest later line."""
    nearer: float = -0.959
    """Later lines that are more like the earlier line, in fifths."""
    later_like: float = 1.756
    """Likeness of the later line to the question …"""
    earlier_like: float = 1.014
    """… and of the earlier line."""
    ahead: float = 0.361
    """Worth of the later line minus that of the earlier, within ±10."""
    says_change: float = -0.000
    """1 if words of the later line state a change."""
    changed: float = 0.257
    """Log-odds, by its vector, that the later line tells of a change …"""
    changed_before: float = -0.271
    """… and that the earlier does."""
    changed_alike: float = 0.749
    """`changed` times `alike`."""
    says_change_alike: float = -0.107
    """`says_change` times `alike`."""
    says_change_of_it: float = 1.523
    """1 if words of the later line state a change, and both state one attribute of a person."""
    alike_asked: float = 0.965
    """`alike` times `earlier_like`."""
    past: float = -0.790
    """1 if the later line tells of the past."""
    other_person: float = -0.682
    """1 if the later line is about other persons than the question, more than the earlier is, and names no thing of
    that."""
    other_relative: float = -1.575
    """1 if both name relatives, and not the same."""
    other_kind: float = -0.161
    """1 if it names another kind of thing than the one in question, which the earlier names."""
    gives: float = 0.928
    """1 if it has a value of the requested kind where the earlier has one."""
    names: float = 1.012
    """1 if both name a thing that few lines name and the question does not."""
    translated: float = 0.448
    """1 if the two are in different scripts."""
    covers: float = 2.847
    """Share of the earlier line's index terms that the later one has, by their rarity among the lines."""
    later_asked: float = 1.063
    """Of the question's index terms that any line has, the share that the later line has, likewise …"""
    earlier_asked: float = 0.098
    """… and that the earlier has."""
    own_words: float = 0.349
    """Number of index terms, at most 2, that these two lines alone have, and the question does not."""
    near_numbers: float = 1.178
    """Of their nearest two unequal numbers the square of the smaller by the larger; 0 if one line has none."""
    lacks_asked: float = 0.876
    """1 if the later line has some of the question's index terms that the earlier has, and lacks others: the vet
    of the dog, where that of the cat is asked for."""
    lacks_asked_alike: float = -2.227
    """`lacks_asked` times `alike`."""
    part_asked: float = -0.407
    """Of these the share that only the earlier of the two has, times the share that both have."""
    other_thing: float = -0.612
    """1 if the later line names things and the earlier one a thing in question, and they have none in common."""
    nearer_words: float = -0.740
    """1 if another earlier line has a larger share of index terms in common with the later one (Jaccard)."""

    def __post_init__(self) -> None:
        require_finite(self)
