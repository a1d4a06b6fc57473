"""The weights by which a block decides whether a later line tells how the matter of an earlier one stands now."""

from dataclasses import dataclass

from biem.domain.policies.confidence import require_finite


@dataclass(frozen=True, slots=True)
class SuccessionWeights:
    """Log-odds per unit of each feature; see `biem.engine.context.succession`.

    Fitted by `benchmarks.fit_succession` to the lines of lives, made ones and those written by hand (ADR 0055).
    """

    bias: float = -7.285
    alike: float = 4.224
    """Likeness of the two lines, 0 to 1."""
    nearest_before: float = 2.091
    """`alike` minus the likeness of the later line to its closest earlier statement: 0 if that is this one."""
    nearest_after: float = 3.494
    """`alike` minus the likeness of the earlier line to its closest later statement."""
    nearer: float = -1.125
    """Later statements that are more like the earlier line, in fifths."""
    later_like: float = 0.983
    """Likeness of the later line to the question …"""
    earlier_like: float = 5.733
    """… and of the earlier line."""
    ahead: float = 0.517
    """Worth of the later line minus that of the earlier, within ±10."""
    says_change: float = 0.25
    """1 if words of the later line state a change."""
    changed: float = 0.125
    """Log-odds, by its vector, that the later line tells of a change …"""
    changed_before: float = -0.249
    """… and that the earlier does."""
    changed_alike: float = 0.555
    """`changed` times `alike`."""
    says_change_alike: float = 0.803
    """`says_change` times `alike`."""
    says_change_of_it: float = 1.611
    """1 if words of the later line state a change, and both state one attribute of a person."""
    alike_asked: float = -3.714
    """`alike` times `earlier_like`."""
    past: float = -1.208
    """1 if the later line tells of the past."""
    holds: float = 0.45
    """1 if the later line asserts a fact."""
    same_people: float = 0.227
    """1 if both name the same relatives."""
    goes_on: float = -0.043
    """1 if the later line is about the people of the earlier, by relation or by name."""
    more_foreign: float = 0.155
    """1 if the later line is about other persons than the question, more than the earlier is."""
    other_kind: float = -1.894
    """1 if it names another kind of thing than the one in question, which the earlier names."""
    gives: float = 2.026
    """1 if it has a value of the requested kind where the earlier has one."""
    apart: float = -0.508
    """1 if it is about other topics than the question, which the earlier is about."""
    names: float = 1.546
    """1 if both name a thing that few lines name and the question does not."""
    translated: float = 0.968
    """1 if the two are in different scripts."""
    words: float = 3.38
    """Share of their index terms that they have in common (Jaccard)."""

    def __post_init__(self) -> None:
        require_finite(self)
