"""The server of the page: on the loopback address, for its own name alone, for reading alone."""

import threading
from collections.abc import Iterator
from http.client import HTTPConnection

import pytest

from expctl.adapters.page_server import ADDRESS, PageServer
from expctl.domain.errors import Refused


@pytest.fixture
def server() -> Iterator[PageServer]:
    with PageServer(0, lambda: ("v1", "<p>é</p>"), lambda: ("v2", "")) as made:
        thread = threading.Thread(target=made.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        yield made
        made.shutdown()
        thread.join()


def ask(server: PageServer, path: str, *, method: str = "GET", hosts: tuple[str, ...] | None = None) -> tuple[int, str, str]:
    """Status, version and body of an answer; `hosts` are the Host headers that are sent (None: the right one)."""
    connection = HTTPConnection(ADDRESS, server.server_port, timeout=10)
    connection.putrequest(method, path, skip_host=True)
    for host in (f"{ADDRESS}:{server.server_port}",) if hosts is None else hosts:
        connection.putheader("Host", host)
    connection.endheaders()
    answer = connection.getresponse()
    found = answer.status, answer.headers.get("X-Version", ""), answer.read().decode()
    connection.close()
    return found


def test_it_answers_on_the_loopback_address_alone(server: PageServer) -> None:
    assert server.socket.getsockname()[0] == "127.0.0.1"
    assert ask(server, "/") == (200, "v1", "<p>é</p>")
    assert ask(server, "/live") == (200, "v2", "")
    assert ask(server, "/", method="HEAD") == (200, "v1", "")


@pytest.mark.parametrize(
    "hosts", [(), ("evil.example",), ("evil.example:{}",), ("127.0.0.1",), ("127.0.0.1:{}", "evil.example")]
)
def test_another_host_reads_nothing(server: PageServer, hosts: tuple[str, ...]) -> None:
    status, _, body = ask(server, "/", hosts=tuple(host.format(server.server_port) for host in hosts))
    assert status == 421
    assert "é" not in body


def test_its_name_is_localhost_too(server: PageServer) -> None:
    assert ask(server, "/", hosts=(f"LocalHost:{server.server_port}",))[0] == 200


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [("GET", "/../etc/passwd", 404), ("GET", "/live?x", 404), ("POST", "/", 501), ("PUT", "/", 501), ("DELETE", "/live", 501)],
)
def test_there_is_nothing_else(server: PageServer, method: str, path: str, status: int) -> None:
    assert ask(server, path, method=method)[0] == status


def test_a_port_that_is_taken_is_refused(server: PageServer) -> None:
    with pytest.raises(Refused, match="can't be used") as refused:
        PageServer(server.server_port, lambda: ("", ""), lambda: ("", ""))
    assert refused.value.code == "port-not-usable"
    assert "--port 0" in refused.value.hint
