"""The command line: parses, calls the facade and shows; it decides nothing."""

from biem.cli.app import main

__all__ = ["main"]
