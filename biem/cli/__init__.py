"""The command line: parses arguments, calls the facade and prints results. It has no logic of its domain."""

from biem.cli.app import main

__all__ = ["main"]
