"""Clients that cancel, come in twos, ask for what isn't there, or were granted less than they ask."""

import time
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor

import anyio
import pytest
from mcp import Client, MCPError

from tests.e2e.agents.client import error, facts, patch_of, talk, text_of
from tests.e2e.foreign import Foreign

WORDS = {"title": "an idea", "hypothesis": "less to do"}
OTHER = "def total(values):\n    return sum([value * value + {0} - {0} for value in values])\n"
FIRST = "def total(values):\n    return sum(value * value for value in values)\n"


def queued(repository: Foreign) -> list[str]:
    """The ids that wait."""
    return sorted(path.name for path in (repository.root / "experiments").glob("P*"))


def check_sound(repository: Foreign) -> None:
    """No process, lock or work tree is left, and the ledger agrees with the records."""
    assert repository.survivors() == []
    assert not (repository.root / ".git/index.lock").exists()
    assert len(repository.git("worktree", "list").splitlines()) == 1
    assert repository.git("status", "--porcelain") == ""
    repository.git("fsck", "--no-dangling", "--strict")
    if queued(repository):
        repository.concluded("ledger", "--check")


def test_proposals_at_once_get_an_id_each(repository: Foreign) -> None:
    patches = [patch_of(repository, OTHER.format(number)) for number in range(8)]
    told: list[str] = []

    async def one(client: Client, patch: str) -> None:
        told.append((await facts(client, "propose", patch=patch, **WORDS))["id"])

    async def conversation(client: Client) -> None:
        async with anyio.create_task_group() as group:
            for patch in patches:
                group.start_soon(one, client, patch)

    talk(repository, conversation)
    assert sorted(told) == queued(repository) == [f"P{number}" for number in range(1, 9)]
    check_sound(repository)


def test_two_servers_of_one_repository(repository: Foreign) -> None:
    patches = [patch_of(repository, OTHER.format(number)) for number in range(8)]
    ends: list[tuple[bool, str]] = []

    def proposing(some: list[str]) -> Callable[[Client], Awaitable[None]]:
        async def conversation(client: Client) -> None:
            for patch in some:
                answer = await client.call_tool("propose", {"patch": patch, **WORDS})
                ends.append((bool(answer.is_error), text_of(answer)))

        return conversation

    with ThreadPoolExecutor(2) as both:
        list(both.map(lambda some: talk(repository, proposing(some)), (patches[::2], patches[1::2])))
    assert len(ends) == 8
    assert all("Error [" in text for failed, text in ends if failed), ends
    assert len(queued(repository)) == sum(not failed for failed, _ in ends) >= 4
    check_sound(repository)


@pytest.mark.parametrize(("titles", "refused"), [(("one", "one"), 0), (("one", "two"), 1)], ids=["one-call", "two-calls"])
def test_one_change_from_two_servers_is_queued_once(repository: Foreign, titles: tuple[str, str], refused: int) -> None:
    """The very same call twice is one proposal, and both callers are told so; other words for the same change are refused."""
    patch = patch_of(repository)
    ends: list[bool] = []

    async def conversation(client: Client, title: str) -> None:
        ends.append(bool((await client.call_tool("propose", {"patch": patch, **WORDS, "title": title})).is_error))

    with ThreadPoolExecutor(2) as both:
        list(both.map(lambda title: talk(repository, lambda client: conversation(client, title)), titles))
    assert sum(ends) == refused
    assert queued(repository) == ["P1"]


@pytest.mark.parametrize(
    "after_s", [0.0, pytest.param(0.02, marks=pytest.mark.long), 0.08, pytest.param(0.2, marks=pytest.mark.long)]
)
def test_a_cancelled_proposal_is_queued_whole_or_not_at_all(repository: Foreign, after_s: float) -> None:
    patch = patch_of(repository)

    async def conversation(client: Client) -> None:
        with anyio.move_on_after(after_s):
            await client.call_tool("propose", {"patch": patch, **WORDS})
        await anyio.sleep(0.5)
        again = await client.call_tool("propose", {"patch": patch, **WORDS})
        assert not again.is_error or "P1" in text_of(again)

    talk(repository, conversation)
    assert queued(repository) == ["P1"]
    check_sound(repository)


def test_others_are_answered_while_one_tries_and_a_second_try_is_not_started(repository: Foreign) -> None:
    gate = repository.hold("test")
    patch = patch_of(repository)
    ends: list[bool] = []

    async def trying(client: Client) -> None:
        ends.append(bool((await client.call_tool("try", {"patch": patch})).is_error))

    async def conversation(client: Client) -> None:
        async with anyio.create_task_group() as group:
            group.start_soon(trying, client)
            await anyio.sleep(1.5)
            group.start_soon(trying, client)
            with anyio.fail_after(20):
                await facts(client, "status")
                await facts(client, "propose", patch=patch, **WORDS)
                await facts(client, "brief")
            (gate / "test").touch()

    talk(repository, conversation)
    assert len(ends) == 2
    assert False in ends
    check_sound(repository)


def test_progress_grows_and_a_cancelled_try_makes_room(repository: Foreign) -> None:
    gate = repository.hold("test")
    patch = patch_of(repository)
    heard: list[float] = []

    async def heard_of(progress: float, total: float | None, message: str | None) -> None:
        assert total is None or progress <= total
        assert message is None or "\x1b" not in message
        heard.append(progress)

    async def conversation(client: Client) -> None:
        with anyio.move_on_after(2.5):
            await client.call_tool("try", {"patch": patch}, progress_callback=heard_of)
        (gate / "test").touch()
        with anyio.fail_after(60):
            for _ in range(40):
                if not (await client.call_tool("try", {"patch": patch})).is_error:
                    return
                await anyio.sleep(0.5)
        raise AssertionError("a cancelled try still stands in the way")

    talk(repository, conversation)
    assert heard
    assert heard == sorted(set(heard))
    check_sound(repository)


def test_what_is_not_there_is_one_error(repository: Foreign) -> None:
    before = repository.snapshot()
    names = ("", "Brief", "run", "finding_add", "eval", "../brief", "\x1b[2J", "x" * 9000)
    addresses = ("expctl://records/P1", "expctl://records/../protocol", "expctl://records/%2e%2e%2fHEAD", "expctl://record")
    others = ("file:///etc/passwd", "expctl://ledger?x=1", "expctl://records/P1/../../../etc/passwd", "expctl://records/--help")

    async def conversation(client: Client) -> None:
        for name in names:
            try:
                answer = await client.call_tool(name, {})
                assert answer.is_error, name
                text = text_of(answer)
            except MCPError as refused:
                text = str(refused)
            assert "Traceback" not in text
            assert "\x1b" not in text
            assert len(text) < 4000
        for address in (*addresses, *others):
            with pytest.raises(MCPError) as no:
                await client.read_resource(address)
            assert "Traceback" not in str(no.value)
        await facts(client, "status")

    assert "Traceback" not in talk(repository, conversation)
    assert repository.snapshot() == before


def test_tools_that_can_not_work_are_not_offered(repository: Foreign) -> None:
    repository.concluded("agents", "grant", "run")
    repository.edit_protocol("    build:\n", "    requires: {executables: [no-such-program-anywhere]}\n    build:\n")
    patch = patch_of(repository)

    async def no_target(client: Client) -> None:
        names = {tool.name for tool in (await client.list_tools()).tools}
        assert not names & {"try", "run"}
        assert {"propose", "brief", "status", "show", "rules_check"} <= names
        await error(client, "try", patch=patch)
        repository.git("revert", "--no-edit", "HEAD")
        assert {"try", "run"} <= {tool.name for tool in (await client.list_tools()).tools}
        repository.git("rm", "-q", "protocol.yaml")
        repository.git("commit", "-q", "-m", "no protocol")
        assert {tool.name for tool in (await client.list_tools()).tools} <= {"profile_diff", "check"}
        await error(client, "propose", patch=patch, **WORDS)
        await error(client, "brief")

    talk(repository, no_target)


def test_a_server_in_a_folder_and_on_no_branch(repository: Foreign) -> None:
    patch = patch_of(repository)

    async def proposing(client: Client) -> None:
        await facts(client, "propose", patch=patch, **WORDS)

    talk(repository, proposing, cwd=repository.root / "src")
    assert queued(repository) == ["P1"]
    repository.git("checkout", "-q", "--detach")

    async def detached(client: Client) -> None:
        await facts(client, "brief")
        answer = await client.call_tool("propose", {"patch": patch_of(repository, OTHER.format(3)), **WORDS})
        assert not answer.is_error or text_of(answer).count("Error [") == 1

    talk(repository, detached)
    assert repository.git("status", "--porcelain") == ""


def test_a_client_that_leaves_in_the_middle_of_a_proposal(repository: Foreign) -> None:
    patch = patch_of(repository)

    async def leaving(client: Client) -> None:
        with anyio.move_on_after(0.05):
            await client.call_tool("propose", {"patch": patch, **WORDS})

    begun = time.monotonic()
    talk(repository, leaving)
    assert time.monotonic() - begun < 30
    assert queued(repository) in ([], ["P1"])
    check_sound(repository)
