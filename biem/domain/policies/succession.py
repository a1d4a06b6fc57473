"""The weights by which a block decides whether a later line tells how the matter of an earlier one stands now."""

from dataclasses import dataclass

from biem.domain.policies.confidence import require_finite


@dataclass(frozen=True, slots=True)
class SuccessionWeights:
    """Log-odds per unit of each feature; see `biem.engine.context.succession`.

    Fitted by `benchmarks.fit_succession` to the lines of lives, made ones and those written by hand (ADR 0055).
    """

    bias: float = -5.397
    alike: float = 3.245
    """Likeness of the two lines, 0 to 1."""
    nearest_before: float = 2.482
    """`alike` minus the likeness of the later line to its closest earlier line: 0 if that is this one."""
    nearest_after: float = 2.559
    """`alike` minus the likeness of the earlier line to its closest later line."""
    nearer: float = -1.115
    """Later lines that are more like the earlier line, in fifths."""
    later_like: float = 0.928
    """Likeness of the later line to the question …"""
    earlier_like: float = 2.76
    """… and of the earlier line."""
    ahead: float = 0.406
    """Worth of the later line minus that of the earlier, within ±10."""
    says_change: float = 0.156
    """1 if words of the later line state a change."""
    changed: float = 0.284
    """Log-odds, by its vector, that the later line tells of a change …"""
    changed_before: float = -0.203
    """… and that the earlier does."""
    changed_alike: float = 0.332
    """`changed` times `alike`."""
    says_change_alike: float = 0.645
    """`says_change` times `alike`."""
    says_change_of_it: float = 1.928
    """1 if words of the later line state a change, and both state one attribute of a person."""
    alike_asked: float = -2.202
    """`alike` times `earlier_like`."""
    past: float = -0.582
    """1 if the later line tells of the past."""
    goes_on: float = 0.266
    """1 if the later line is about the people of the earlier, by relation or by name."""
    other_person: float = -0.145
    """1 if the later line is about other persons than the question, more than the earlier is, and names no thing of
    that."""
    other_relative: float = -0.487
    """1 if both name relatives, and not the same."""
    other_kind: float = -1.503
    """1 if it names another kind of thing than the one in question, which the earlier names."""
    gives: float = 1.52
    """1 if it has a value of the requested kind where the earlier has one."""
    names: float = 1.262
    """1 if both name a thing that few lines name and the question does not."""
    translated: float = 0.745
    """1 if the two are in different scripts."""
    words: float = 2.61
    """Share of their index terms that they have in common (Jaccard)."""

    def __post_init__(self) -> None:
        require_finite(self)
