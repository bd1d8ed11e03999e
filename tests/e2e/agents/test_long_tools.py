"""Progress, cancellation and the server's end, while a tool works in a process of its own."""

import os
import signal
import subprocess
from collections.abc import Callable

import anyio
import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from tests.e2e.agents.client import WORDS, error, facts, patch_of, talk, text_of
from tests.e2e.foreign import EXPCTL, Foreign, wait_until


def children(name: str) -> list[int]:
    """Processes of the verb `name` that servers started."""
    found = subprocess.run(["pgrep", "-f", f"-P -m expctl {name}"], capture_output=True, text=True).stdout
    return [int(each) for each in found.split()]


async def until(holds: Callable[[], object], what: str) -> None:
    await anyio.to_thread.run_sync(lambda: wait_until(holds, what))


def ready(repository: Foreign, *steps: str) -> str:
    """Make steps wait, grant runs, and return a patch."""
    repository.hold(*steps)
    repository.concluded("agents", "grant", "run")
    return patch_of(repository)


@pytest.mark.parametrize("step", ["build", "benchmark"])
def test_a_cancelled_run_ends_and_goes_on_later(repository: Foreign, step: str) -> None:
    patch = ready(repository, step)
    shown = {"build": "build", "benchmark": "measure"}[step]

    async def conversation(client: Client) -> None:
        await facts(client, "propose", patch=patch, **WORDS)
        head = repository.head()
        async with anyio.create_task_group() as group:
            group.start_soon(client.call_tool, "run", {"experiment": "P1"})
            await until(lambda: repository.step() == shown, f"the step {shown}")
            said = await error(client, "try", patch=patch)
            assert "[tool-busy]" in said
            assert (await facts(client, "status"))["running"][0]["experiment"] == "P1"
            group.cancel_scope.cancel()
        await until(lambda: not repository.survivors() and repository.step() == "", "the end of what was cancelled")
        assert repository.head() == head
        (repository.home / "go" / step).touch()
        assert (await facts(client, "run", experiment="P1"))["measured"] is True

    assert "Traceback" not in talk(repository, conversation)
    assert repository.record("P1")["verdict"] == "KEEP"
    repository.check_nothing_is_left()


def test_a_cancelled_try_leaves_nothing(repository: Foreign) -> None:
    patch = ready(repository, "test")

    async def conversation(client: Client) -> None:
        told: list[str | None] = []

        async def told_of(progress: float, total: float | None, message: str | None) -> None:  # noqa: ARG001
            told.append(message)

        async def call() -> None:
            await client.call_tool("try", {"patch": patch}, progress_callback=told_of)

        before = repository.snapshot()
        async with anyio.create_task_group() as group:
            group.start_soon(call)
            await until(lambda: any(each and each.startswith("build") for each in told), "a build")
            with anyio.fail_after(20):
                while not any(each and "is under way" in each for each in told):
                    await anyio.sleep(0.1)
            group.cancel_scope.cancel()
        await until(lambda: not children("try"), "the end of what was cancelled")
        assert repository.snapshot() == before
        (repository.home / "go" / "test").touch()
        assert (await facts(client, "try", patch=patch))["passes"] is True

    talk(repository, conversation)
    assert len(repository.git("worktree", "list").splitlines()) == 1


def test_the_clients_end_ends_a_run(repository: Foreign) -> None:
    patch = ready(repository, "benchmark")

    async def conversation(client: Client) -> None:
        await facts(client, "propose", patch=patch, **WORDS)
        async with anyio.create_task_group() as group:
            group.start_soon(client.call_tool, "run", {"experiment": "P1"})
            await until(lambda: repository.step() == "measure", "a measurement")
            raise ConnectionAbortedError

    with pytest.raises(ExceptionGroup):
        talk(repository, conversation)
    wait_until(lambda: not repository.survivors() and not children("run"), "the end of the run")
    (repository.home / "go" / "benchmark").touch()
    repository.concluded("run", "P1")
    repository.check_nothing_is_left()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL, signal.SIGINT])
def test_a_killed_server_is_started_again(repository: Foreign, number: signal.Signals) -> None:
    server = StdioServerParameters(command=str(EXPCTL), args=["mcp"], env=repository.environment, cwd=str(repository.root))

    async def main() -> None:
        try:
            with anyio.move_on_after(20), open(repository.home / "log", "w") as log:
                async with Client(stdio_client(server, errlog=log)) as client:
                    assert (await client.list_tools()).tools
                    (pid,) = [each for each in _servers() if _cwd(each) == str(repository.root)]
                    os.kill(pid, number)
                    with pytest.raises(Exception):  # noqa: B017, PT011  whatever the SDK says of a closed connection
                        await client.call_tool("status", {})
        except* (OSError, anyio.BrokenResourceError, anyio.ClosedResourceError):
            pass

    anyio.run(main)
    wait_until(lambda: not [each for each in _servers() if _cwd(each) == str(repository.root)], "the server's end")

    async def conversation(client: Client) -> None:
        answer = await client.call_tool("status", {})
        assert not answer.is_error, text_of(answer)

    talk(repository, conversation)


def test_a_change_of_the_list_is_told(repository: Foreign) -> None:
    told: list[str] = []

    async def told_of(message: object) -> None:
        told.append(type(message).__name__)

    server = StdioServerParameters(command=str(EXPCTL), args=["mcp"], env=repository.environment, cwd=str(repository.root))

    async def main() -> None:
        with open(repository.home / "log", "w") as log:
            async with Client(stdio_client(server, errlog=log), message_handler=told_of, mode="legacy") as client:
                await client.list_tools()
                await facts(client, "status")
                assert told == []
                await anyio.to_thread.run_sync(lambda: repository.concluded("agents", "grant", "run"))
                await facts(client, "status")
                with anyio.fail_after(10):
                    while "ToolListChangedNotification" not in told:
                        await anyio.sleep(0.05)

    anyio.run(main)


def _servers() -> list[int]:
    found = subprocess.run(["pgrep", "-f", f"{EXPCTL} mcp"], capture_output=True, text=True).stdout
    return [int(each) for each in found.split()]


def _cwd(pid: int) -> str:
    try:
        return os.readlink(f"/proc/{pid}/cwd")
    except OSError:
        return ""
