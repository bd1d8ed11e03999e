"""Serve one page to a browser of this machine: on the loopback address, for reading only."""

from __future__ import annotations

from collections.abc import Callable
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock

from expctl.domain.errors import Refused

ADDRESS = "127.0.0.1"
NAMES = (ADDRESS, "localhost")
IDLE_S = 10.0
Answer = tuple[str, str]
"""The version of what is shown, and HTML."""


class PageServer(ThreadingHTTPServer):
    """Answers `GET /` with `page()` and `GET /live` with `live()`, one at a time, and nothing else.

    A request must name this very server as its host, so that a web site whose name is made to point at the loopback address
    reads nothing (DNS rebinding). `port` 0 takes a free one. Raises Refused if the port is taken.
    """

    daemon_threads = True

    def __init__(self, port: int, page: Callable[[], Answer], live: Callable[[], Answer]) -> None:
        self.answers = {"/": page, "/live": live}
        self.turn = Lock()
        try:
            super().__init__((ADDRESS, port), _Handler)
        except (OSError, OverflowError) as error:
            raise Refused(
                f"the port {port} can't be used",
                code="port-not-usable",
                expected="a port of this machine that no other program listens on",
                found=str(getattr(error, "strerror", None) or error),
                hint="expctl report --serve --port 0 takes a free one",
            ) from error

    @property
    def address(self) -> str:
        """The address to type into a browser."""
        return f"http://{ADDRESS}:{self.server_port}/"

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing of a browser that went away; anything else is our bug and is printed."""
        import sys

        if not isinstance(sys.exception(), ConnectionError | TimeoutError):
            super().handle_error(request, client_address)  # type: ignore[arg-type]


class _Handler(BaseHTTPRequestHandler):
    server: PageServer
    timeout = IDLE_S
    server_version, sys_version = "expctl", ""

    def do_GET(self) -> None:
        self._answer(with_body=True)

    def do_HEAD(self) -> None:
        self._answer(with_body=False)

    def log_message(self, *_: object) -> None:
        """Print nothing: the terminal shows the address alone."""

    def _answer(self, *, with_body: bool) -> None:
        host = self.headers.get_all("Host", [])
        if len(host) != 1 or host[0].lower() not in {f"{name}:{self.server.server_port}" for name in NAMES}:
            self.send_error(HTTPStatus.MISDIRECTED_REQUEST, "Another host was asked for")
            return
        made = self.server.answers.get(self.path)
        if made is None:
            self.send_error(HTTPStatus.NOT_FOUND)
            return
        with self.server.turn:
            version, text = made()
        body = text.encode()
        self.send_response(HTTPStatus.OK)
        for name, value in (
            ("Content-Type", "text/html; charset=utf-8"),
            ("Content-Length", str(len(body))),
            ("Cache-Control", "no-store"),
            ("X-Version", version),
            ("X-Content-Type-Options", "nosniff"),
            ("Content-Security-Policy", "frame-ancestors 'none'"),
            ("Cross-Origin-Resource-Policy", "same-origin"),
        ):
            self.send_header(name, value)
        self.end_headers()
        if with_body:
            self.wfile.write(body)
