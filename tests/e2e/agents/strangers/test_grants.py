"""Grants that are missing, for another tool, elsewhere, over, too long or taken back."""

import json
from datetime import UTC, datetime, timedelta

import anyio
from mcp import Client

from tests.e2e.agents.client import error, talk
from tests.e2e.agents.strangers.test_clients import FIRST, check_sound
from tests.e2e.foreign import Foreign, wait_until


def test_a_grant_is_for_one_tool_and_for_its_time(repository: Foreign) -> None:
    for words in (
        ("propose",),
        ("brief",),
        ("all",),
        ("run", "--hours", "169"),
        ("run", "--hours", "0"),
        ("run", "--hours", "-1"),
    ):
        assert repository.expctl("agents", "grant", *words).status != 0, words
    for until in ("2001-01-01T00:00", "yesterday", "9999-01-01T00:00"):
        assert repository.expctl("agents", "grant", "run", "--until", until).status != 0, until
    assert json.loads(repository.concluded("agents", "grants", "--json").out).get("grants") in ([], {})
    repository.queue("P1", FIRST)
    finding = {"text": "no", "evidence": ["P1"]}

    async def conversation(client: Client) -> None:
        await error(client, "run", experiment="P1")
        repository.concluded("agents", "grant", "run", "--hours", "0.002")
        assert "run" in {tool.name for tool in (await client.list_tools()).tools}
        assert (await client.call_tool("finding_add", finding)).is_error
        await anyio.sleep(8)
        await error(client, "run", experiment="P1")
        assert "run" not in {tool.name for tool in (await client.list_tools()).tools}

    talk(repository, conversation)
    assert not (repository.root / "experiments/P1/record.json").exists()


def test_a_grant_elsewhere_is_none(repository: Foreign) -> None:
    """In another repository, in the work tree, or in another name."""
    other = Foreign.of("foreign_repository", repository.home / "other")
    other.concluded("agents", "grant", "run")
    granted = (other.root / ".git/expctl/grants.json").read_text()
    repository.concluded("agents", "grants")
    state = repository.root / ".git/expctl"
    state.mkdir(exist_ok=True)
    for place in (repository.root / "grants.json", repository.root / ".expctl/grants.json", state / "grants.json.bak"):
        place.parent.mkdir(exist_ok=True)
        place.write_text(granted)

    async def conversation(client: Client) -> None:
        assert "run" not in {tool.name for tool in (await client.list_tools()).tools}
        await error(client, "run", experiment="P1")

    talk(repository, conversation)


def test_a_grant_longer_than_a_week_was_not_given_by_the_command(repository: Foreign) -> None:
    repository.concluded("agents", "grant", "run")
    file = repository.root / ".git/expctl/grants.json"
    text = file.read_text()
    until = (datetime.now(UTC) + timedelta(days=3650)).isoformat()
    end = max((word for word in text.split('"') if word[:2] == "20" and "T" in word), default="")
    assert end
    file.write_text(text.replace(end, until[: len(end)] if end.endswith("Z") is False else until[: len(end) - 1] + "Z"))

    async def conversation(client: Client) -> None:
        assert "run" not in {tool.name for tool in (await client.list_tools()).tools}

    talk(repository, conversation)


def test_a_grant_that_is_taken_back_lets_what_runs_end(repository: Foreign) -> None:
    gate = repository.hold("test")
    repository.queue("P1", FIRST)
    repository.concluded("agents", "grant", "run")

    async def conversation(client: Client) -> None:
        async with anyio.create_task_group() as group:

            async def running() -> None:
                await client.call_tool("run", {"experiment": "P1"})

            group.start_soon(running)
            await anyio.to_thread.run_sync(lambda: wait_until(lambda: repository.step() == "test", "the test"))
            repository.concluded("agents", "revoke", "run")
            (gate / "test").touch()
        await error(client, "run", experiment="P1")

    talk(repository, conversation)
    assert repository.record("P1")["verdict"]
    check_sound(repository)
