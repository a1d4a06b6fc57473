"""An authority of the test's own, and what speaks TLS before the embedded servers, which do not (as stunnel would)."""

import shutil
import socket
import ssl
import struct
import subprocess
import threading
from contextlib import suppress
from pathlib import Path
from typing import Literal

import pytest

_SSL_REQUEST = struct.pack("!II", 8, 80877103)
"""PostgreSQL's client asks for TLS in plain text first; the server answers S."""

Protocol = Literal["postgres", "redis", "milvus"]


class Authority:
    """Signs certificates for localhost and 127.0.0.1."""

    def __init__(self, folder: Path, name: str) -> None:
        openssl = shutil.which("openssl")
        if openssl is None:
            pytest.skip("no openssl here to make a certificate with")
        self.certificate = folder / f"{name}.ca.pem"
        self._openssl = openssl
        self._key = folder / f"{name}.ca.key"
        new = ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"]
        self._run(
            *new, "-keyout", self._key, "-out", self.certificate, "-subj", f"/CN={name}",
            "-addext", "basicConstraints=critical,CA:TRUE",
        )  # fmt: skip
        request, names = folder / f"{name}.csr", folder / f"{name}.ext"
        self.server_key, self.server_certificate = folder / f"{name}.key", folder / f"{name}.pem"
        names.write_text("subjectAltName=DNS:localhost,IP:127.0.0.1\n")
        self._run(
            "req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
            "-keyout", self.server_key, "-out", request, "-subj", "/CN=localhost",
        )  # fmt: skip
        self._run(
            "x509", "-req", "-in", request, "-CA", self.certificate, "-CAkey", self._key, "-CAcreateserial",
            "-days", "2", "-extfile", names, "-out", self.server_certificate,
        )  # fmt: skip

    def _run(self, *words: str | Path) -> None:
        subprocess.run([self._openssl, *map(str, words)], check=True, capture_output=True)


class Terminator:
    """Listens on a port of 127.0.0.1 with TLS and passes on what it hears to the socket of a server."""

    def __init__(self, server: str, authority: Authority, protocol: Protocol) -> None:
        self._server = server
        self._protocol = protocol
        self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._context.load_cert_chain(authority.server_certificate, authority.server_key)
        if protocol == "milvus":
            self._context.set_alpn_protocols(["h2"])
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        """Listen no more."""
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def _accept(self) -> None:
        while True:
            try:
                client = self._listener.accept()[0]
            except OSError:
                return
            threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, plain: socket.socket) -> None:
        with suppress(OSError), plain:
            if self._protocol == "postgres":
                if plain.recv(8, socket.MSG_WAITALL) != _SSL_REQUEST:
                    return  # who does not ask for TLS is not let in
                plain.sendall(b"S")
            with self._context.wrap_socket(plain, server_side=True) as client, socket.socket(socket.AF_UNIX) as server:
                server.connect(self._server)
                answers = threading.Thread(target=_pass_on, args=(server, client), daemon=True)
                answers.start()
                _pass_on(client, server)
                answers.join()


def _pass_on(source: socket.socket, target: socket.socket) -> None:
    with suppress(OSError, ValueError):
        while data := source.recv(1 << 16):
            target.sendall(data)
    for end in (source, target):
        with suppress(OSError):
            end.shutdown(socket.SHUT_RDWR)
