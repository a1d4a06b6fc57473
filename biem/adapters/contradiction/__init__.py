"""Which statements cannot both hold, without a model: the `ContradictionRules` port in English and Chinese."""

from biem.adapters.contradiction.rules import RuleContradictions

__all__ = ["RuleContradictions", "build"]


def build() -> RuleContradictions:
    """The rules of both languages."""
    return RuleContradictions()
