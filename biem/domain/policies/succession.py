"""The weights by which a block decides whether a later line tells how the matter of an earlier one stands now."""

from dataclasses import dataclass

from biem.domain.policies.confidence import require_finite


@dataclass(frozen=True, slots=True)
class SuccessionWeights:
    """Log-odds per unit of each feature; see `biem.engine.context.succession`.

    Fitted by `benchmarks.fit_succession` to the lines of lives, made ones and those written by hand (ADR 0055).
    """

    bias: float = -6.772
    alike: float = 3.446
    """Likeness of the two lines, 0 to 1."""
    nearest_before: float = 3.541
    """`alike` minus the likeness of the later line to its closest earlier statement: 0 if that is this one."""
    nearest_after: float = 3.991
    """`alike` minus the likeness of the earlier line to its closest later statement."""
    nearer: float = -0.896
    """Later statements that are more like the earlier line, in fifths."""
    later_like: float = 0.723
    """Likeness of the later line to the question …"""
    earlier_like: float = 5.839
    """… and of the earlier line."""
    ahead: float = 0.504
    """Worth of the later line minus that of the earlier, within ±10."""
    says_change: float = 0.493
    """1 if words of the later line state a change."""
    changed: float = 0.152
    """Log-odds, by its vector, that the later line tells of a change …"""
    changed_before: float = -0.251
    """… and that the earlier does."""
    changed_alike: float = 0.51
    """`changed` times `alike`."""
    says_change_alike: float = 0.183
    """`says_change` times `alike`."""
    says_change_of_it: float = 1.469
    """1 if words of the later line state a change, and both state one attribute of a person."""
    alike_asked: float = -3.827
    """`alike` times `earlier_like`."""
    past: float = -1.516
    """1 if the later line tells of the past."""
    holds: float = 0.399
    """1 if the later line asserts a fact."""
    supposes: float = -3.223
    """1 if the later line begins with a supposition or a quotation."""
    same_people: float = 0.396
    """1 if both name the same relatives."""
    other_people: float = -1.935
    """1 if both name relatives, and other ones."""
    other_way: float = -1.398
    """1 if the later line is about one of several that is not asked for: the way back."""
    goes_on: float = -0.1
    """1 if the later line is about the people of the earlier, by relation or by name."""
    other_person: float = -0.487
    """1 if the later line is about other persons than the question, and the earlier is not."""
    other_kind: float = -1.548
    """1 if it names another kind of thing than the one in question, which the earlier names."""
    gives: float = 1.887
    """1 if it has a value of the requested kind where the earlier has one."""
    apart: float = -0.549
    """1 if it is about other topics than the question, which the earlier is about."""
    names: float = 1.588
    """1 if both name a thing that few lines name and the question does not."""
    translated: float = 0.834
    """1 if the two are in different scripts."""
    words: float = 2.676
    """Share of their index terms that they have in common (Jaccard)."""

    def __post_init__(self) -> None:
        require_finite(self)
