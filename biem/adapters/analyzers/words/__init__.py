"""Word lists as packaged text: one or more words per line, `#` starts a comment line."""

from importlib.resources import files


def load(name: str) -> list[list[str]]:
    """The lines of `name`.txt, each split at white space."""
    text = files(__name__).joinpath(f"{name}.txt").read_text(encoding="utf-8")
    return [line.split() for line in text.splitlines() if line.strip() and not line.startswith("#")]


def load_set(name: str) -> frozenset[str]:
    """All words of `name`.txt."""
    return frozenset(word for line in load(name) for word in line)
