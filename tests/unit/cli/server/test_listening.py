"""A server that cannot listen says which of its two options to change."""

import socket

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
