"""Every tool and resource, asked by the official client; what an agent may do, and what it may not."""

import json
import shutil
import statistics
import time
from dataclasses import dataclass, field

import anyio
import psutil
import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError
from mcp_types import TextResourceContents

from expctl.agents.server import SECONDS
from expctl.agents.tools import NO_EVIDENCE, TOOLS
from expctl.inspection.device_compiler import Options, compile_source
from tests.e2e.agents.client import WORDS, error, facts, patch_of, talk, text_of
from tests.e2e.foreign import Foreign

KERNEL = "#include <hip/hip_runtime.h>\n__global__ void twice(float *x) { x[threadIdx.x] *= 2.0f; }\n"
LAUNCH = "grid: [1]\nblock: [64]\narguments: [{name: x, dtype: f32, shape: [64], role: inout}]\n"
TRACE = "Kernel_Name,Start_Timestamp,End_Timestamp\ntotal,1,9000\ncast,9500,9900\n"
READS = {"brief", "status", "show", "rules_check", "try", "profile_diff", "check"}


async def names(client: Client) -> list[str]:
    return [tool.name for tool in (await client.list_tools(cache_mode="bypass")).tools]


def test_the_tools_say_what_they_take_give_and_touch(repository: Foreign) -> None:
    repository.concluded("agents", "grant", "run")
    repository.concluded("agents", "grant", "finding_add", "--hours", "1")

    async def conversation(client: Client) -> None:
        found = (await client.list_tools()).tools
        assert [tool.name for tool in found] == [tool.name for tool in TOOLS]
        assert len(found) <= 10
        for tool in found:
            assert tool.description is not None
            assert tool.description.endswith(NO_EVIDENCE)
            assert tool.annotations is not None
            assert tool.annotations.read_only_hint is (tool.name in READS)
            assert tool.input_schema["additionalProperties"] is False
            assert tool.output_schema is not None
            assert tool.output_schema["type"] == "object"
        assert ("grant" in (found[6].description or ""), found[6].name) == (True, "run")

    talk(repository, conversation)


def test_an_idea_from_the_brief_to_the_queue(repository: Foreign) -> None:
    patch = patch_of(repository)
    before = repository.head()

    async def conversation(client: Client) -> None:
        brief = await facts(client, "brief", words=1500)
        assert (brief["head"], brief["next_id"]) == (before, "P1")
        assert "You may touch only src" in brief["text"]
        assert (await facts(client, "status"))["queue"] == []
        assert await facts(client, "rules_check", patch=patch) == {"refused": False, "matches": [], "misfits": [], "near": []}
        tried = await facts(client, "try", patch=patch)
        assert (tried["passes"], tried["files"], tried["would_end"]) == (True, ["src/total.py"], None)
        assert repository.head() == before
        made = await facts(client, "propose", patch=patch, expect="KEEP", gain="1,50", **WORDS)
        assert (made["id"], made["commit"], made["files"]) == ("P1", repository.head(), ["src/total.py"])
        assert [each["id"] for each in (await facts(client, "status"))["queue"]] == ["P1"]
        shown = await facts(client, "show", experiment="P1")
        assert (shown["state"], shown["verdict"], shown["facts"]["hypothesis"]) == ("queued", "", WORDS["hypothesis"])
        assert "[same-change-queued]" in await error(client, "propose", patch=patch, **WORDS)

    assert "Traceback" not in talk(repository, conversation)
    files = sorted(repository.changed_by("HEAD"))
    assert files == [f"experiments/P1/{name}" for name in ("change.patch", "experiment.yaml", "queued.json")] + ["ledger.md"]
    assert json.loads(repository.git("show", "HEAD:experiments/P1/queued.json"))["by"] == "agent"
    repository.concluded("ledger", "--check")


def test_a_person_grants_a_run_and_a_finding(repository: Foreign) -> None:
    patch = patch_of(repository)

    async def conversation(client: Client) -> None:
        told: list[str | None] = []

        async def told_of(progress: float, total: float | None, message: str | None) -> None:  # noqa: ARG001
            assert progress == len(told) + 1
            told.append(message)

        assert {"run", "finding_add"} & set(await names(client)) == set()
        await facts(client, "propose", patch=patch, **WORDS)
        head = repository.head()
        for tool, arguments in (("run", {"experiment": "P1"}), ("finding_add", {"text": "lists are quicker"})):
            said = await error(client, tool, **arguments)
            assert "[not-granted]" in said
            assert f"expctl agents grant {tool}" in said
        assert repository.head() == head
        await anyio.to_thread.run_sync(lambda: repository.concluded("agents", "grant", "run", "--hours", "1"))
        await anyio.to_thread.run_sync(lambda: repository.concluded("agents", "grant", "finding_add"))
        assert {"run", "finding_add"} <= set(await names(client))
        ran = await client.call_tool("run", {"experiment": "P1"}, progress_callback=told_of)
        assert not ran.is_error, text_of(ran)
        assert ran.structured_content["verdict"] == "KEEP"
        assert ran.structured_content["measured"] is True
        assert told[0] == "run begins"
        assert any(line and line.startswith("test") for line in told)
        again = await facts(client, "run", experiment="P1")
        assert (again["verdict"], again["measured"]) == ("KEEP", False)
        assert (await facts(client, "show", experiment="P1"))["state"] == "concluded"
        noted = await facts(client, "finding_add", text="a comprehension beats a loop", evidence=["P1"])
        assert (noted["id"], noted["commit"]) == ("F1", repository.head())
        assert "[evidence-leads-nowhere]" in await error(client, "finding_add", text="lists are quick", evidence=["P9"])
        await anyio.to_thread.run_sync(lambda: repository.concluded("agents", "revoke", "run"))
        assert "[not-granted]" in await error(client, "run", experiment="P1")

    talk(repository, conversation)
    assert repository.record("P1")["verdict"] == "KEEP"
    repository.check_nothing_is_left()


def test_profiles_and_kernels_of_the_repository(repository: Foreign) -> None:
    source = repository.home / "twice.hip"
    source.write_text(KERNEL)
    repository.write("twice.s", compile_source(source, Options(arch="gfx1151")).assembly)
    repository.write("case.yaml", LAUNCH)
    repository.write("a.csv", TRACE)
    repository.write("b.csv", TRACE.replace("9000", "7000"))

    async def conversation(client: Client) -> None:
        changed = await facts(client, "profile_diff", before="a.csv", after="b.csv")
        assert {pair["before"] for pair in changed["pairs"]} == {"total", "cast"}
        listed = await facts(client, "check", file="twice.s")
        assert (len(listed["kernels"]), "grid" in listed["proposal"]) == (1, True)
        checked = await facts(client, "check", file="twice.s", launch="case.yaml", orders=1)
        assert (checked["findings"], checked["launches"] > 0) == ([], True)
        assert "Error [" in await error(client, "check", file="case.yaml", launch="case.yaml")

    talk(repository, conversation)


def test_ledger_records_and_protocol_can_be_read(repository: Foreign) -> None:
    repository.queue("P1", "def total(values):\n    return sum(v * v for v in values)\n")
    repository.concluded("ledger")
    repository.git("add", "ledger.md")
    repository.git("commit", "-q", "-m", "the ledger")

    async def conversation(client: Client) -> None:
        texts = {}
        for each in (await client.list_resources()).resources:
            assert (each.description or "").endswith(NO_EVIDENCE)
            (contents,) = (await client.read_resource(each.uri)).contents
            assert isinstance(contents, TextResourceContents)
            texts[each.name] = contents.text
        assert texts["ledger"] == (repository.root / "ledger.md").read_text()
        assert texts["protocol"] == (repository.root / "protocol.yaml").read_text()
        assert json.loads(texts["records"]) == {"P1": None}
        assert len((await client.list_resource_templates()).resource_templates) == 1
        for uri in ("records/P1", "records/P9", "records/../protocol", "../../etc/passwd", "", "ledger\x1b[2J"):
            with pytest.raises(MCPError, match=r"Error \["):
                await client.read_resource(f"expctl://{uri}")

    talk(repository, conversation)


def test_what_cannot_work_here_is_left_out(repository: Foreign) -> None:
    async def few(client: Client) -> None:
        assert await names(client) == ["profile_diff", "check"]
        assert "[tool-absent]" in await error(client, "propose", patch="x", **WORDS)

    async def no_builds(client: Client) -> None:
        found = await names(client)
        assert "propose" in found
        assert {"try", "run"} & set(found) == set()

    repository.concluded("agents", "grant", "run")
    repository.edit_protocol("    build:", "    requires: {executables: [no-such-program]}\n    build:")
    talk(repository, no_builds)
    repository.git("rm", "-q", "protocol.yaml")
    repository.commit("no protocol")
    talk(repository, few)


def test_many_proposals_in_a_row(repository: Foreign, long: bool) -> None:
    """What the server adds to a proposal is less than 50 ms; what it costs beyond the checks that decide is printed.

    A proposal that repeats a queued one is refused by the last of these checks, when schema, patch policy, applying, rules and
    queue have been looked at, and pays for all of them. So the difference to one that is accepted is the rest: to commit, to
    render the ledger, to publish, and to take up the new account in the next call. Half of the proposals come before those
    that are refused and half after, so that both see a queue as long. What the server itself takes (the client's seconds less
    those of the tool) is added. Both by the clock and in processor time of the server with all its git processes; neither
    is held to a bar, because both double where others compute: `test_a_proposal_takes_few_git_calls` holds what causes them.
    """
    count = 100 if long else 16
    kernels = [
        f"def total(values):\n    return sum([v * v + {number} - {number} for v in values])\n" for number in range(count)
    ]
    patches = [patch_of(repository, kernel) for kernel in kernels]
    own_s: list[float] = []
    costs: dict[bool, Costs] = {True: Costs(), False: Costs()}

    async def propose(client: Client, patch: str, *, number: int = 0) -> None:
        before, begun = spent_s(), time.perf_counter()
        words = WORDS if number else WORDS | {"title": "by somebody else"}  # the same words would be the same call, typed again
        answer = await client.call_tool("propose", {"patch": patch, **words})
        whole_s = time.perf_counter() - begun
        costs[bool(number)].whole_s.append(whole_s)
        costs[bool(number)].processor_s += spent_s() - before
        assert answer.is_error != bool(number), text_of(answer)
        if number:
            assert answer.structured_content["id"] == f"P{number}"
            assert answer.meta is not None
            own_s.append(whole_s - float(answer.meta[SECONDS]))
        else:
            assert "proposes the same change already" in text_of(answer)

    async def conversation(client: Client) -> None:
        for number, patch in enumerate(patches[: count // 2], 1):
            await propose(client, patch, number=number)
        await facts(client, "status")  # it takes up the account of the last proposal, which no refused one has to pay
        for _ in range(count):
            await propose(client, patches[count // 2 - 1])
        for number, patch in enumerate(patches[count // 2 :], count // 2 + 1):
            await propose(client, patch, number=number)

    talk(repository, conversation)
    accepted, refused = costs[True], costs[False]
    own = statistics.median(own_s)
    beyond = (accepted.processor_s - refused.processor_s) / count + own
    beyond_by_clock = statistics.median(accepted.whole_s) - statistics.median(refused.whole_s) + own
    print(
        f"{count} proposals, each by the clock {statistics.median(accepted.whole_s):.3f} s, beyond the checks"
        f" {beyond_by_clock:.3f} s; processor time {accepted.processor_s / count:.3f} s, beyond the checks {beyond:.3f} s;"
        f" the server {own:.4f} s"
    )
    assert own < 0.05
    repository.concluded("ledger", "--check")


def test_a_proposal_takes_few_git_calls(repository: Foreign) -> None:
    """Most that a proposal costs are calls of git: 6 to check it, and 7 to commit, to publish and to take it up."""
    calls, programs = repository.home / "calls", repository.home / "programs"
    programs.mkdir()
    (programs / "git").write_text(f'#!/bin/sh\necho "$1" >> {calls}\nexec {shutil.which("git")} "$@"\n')
    (programs / "git").chmod(0o755)
    patches = [
        patch_of(repository, f"def total(values):\n    return sum([v * v + {n} - {n} for v in values])\n") for n in range(4)
    ]
    repository.environment["PATH"] = f"{programs}:{repository.environment['PATH']}"
    taken: list[int] = []

    async def conversation(client: Client) -> None:
        for patch, title in (*((each, "one") for each in patches), (patches[3], "two"), (patches[3], "three")):
            await client.call_tool("propose", {"patch": patch, **WORDS, "title": title})
            taken.append(len(calls.read_text().splitlines()) - sum(taken))

    talk(repository, conversation)
    accepted, checks, again = taken[3:]
    print(f"{accepted} calls of git for a proposal, {checks} for one that the last check refuses, {again} when it comes again")
    assert accepted <= 13
    assert 5 <= again <= checks <= 6


@dataclass(slots=True)
class Costs:
    """What some calls took: seconds by the clock of each, and of the server's processor in all."""

    whole_s: list[float] = field(default_factory=list)
    processor_s: float = 0.0


def spent_s() -> float:
    """Processor time of this process's servers and of what they have run, in seconds."""
    alive = (each for each in psutil.Process().children() if each.status() != psutil.STATUS_ZOMBIE)
    return sum(sum(each.cpu_times()[:4]) for each in alive if "mcp" in each.cmdline())
