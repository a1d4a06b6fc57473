"""A server that cannot listen says which of its two options to change; its processes log alike."""

import socket
import subprocess
import sys

import pytest

from biem.cli.server.web import listening
from biem.errors import ConfigError


def test_a_port_that_is_taken_needs_another_port() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(ConfigError, match=r"in use\); give another --port$"):
            listening("127.0.0.1", port)


def test_an_address_of_another_machine_needs_another_host() -> None:
    with pytest.raises(ConfigError, match=r"\); give another --host, an address of this machine$"):
        listening("192.0.2.1", 0)


def test_a_process_among_several_logs_one_line_a_message() -> None:
    # Given the application of one process, and the SDK of MCP, which configures a log that has no form
    program = """
import logging
from biem.cli.server.serve import application
from biem.server.mcp.tools import build
application(None, {})
build(lambda grant: None)
logging.getLogger("biem.server").warning("refused " + "x" * 200)
"""
    # When it logs / Then the line is whole, as that of a single process
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)
    assert done.stderr == f"biem: refused {'x' * 200}\n"
