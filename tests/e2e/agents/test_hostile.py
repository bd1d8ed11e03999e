"""What a hostile agent sends: one clear error each, and no effect on the repository, the machine or the server."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError

from tests.e2e.agents.client import WORDS, error, facts, patch_of, talk
from tests.e2e.foreign import EXPCTL, Foreign

SHELL = "$(touch /tmp/expctl-was-here); `id`; rm -rf ~ | sh && true"
DIFF = "--- a/{0}\n+++ b/{0}\n@@ -1 +1 @@\n-x\n+y\n"
NEW = "diff --git a/{0} b/{0}\nnew file mode {1}\n--- /dev/null\n+++ b/{0}\n@@ -0,0 +1 @@\n+{2}\n"
ESCAPES = ("\x1b[2J", "\x1b]0;title\x07", "\x9b31m", "a\0b", "a\rb", "\u202egnp.exe", "\u200b", "\u2028", "\U000e0041", "\x7f")


def hostile_calls(patch: str) -> list[tuple[str, dict[str, Any], str]]:
    """Tool, arguments, and what the error has to say."""
    fit = {"patch": patch, **WORDS}
    calls: list[tuple[str, dict[str, Any], str]] = []
    for text in ESCAPES:
        calls += [("propose", {**fit, name: f"good {text} words"}, "[argument-not-plain]") for name in WORDS]
        calls += [("profile_diff", {"before": f"a{text}", "after": "a"}, "[argument-not-plain]")]
        calls += [("propose", {**fit, "depends_on": [f"P1{text}"]}, "[argument-not-plain]")]
        calls += [("show", {"experiment": f"P1{text}"}, "[arguments-unfit]")]
    calls += [(tool, {**arguments, "patch": f"{patch}+\x1b[2J\n"}, "[argument-not-plain]") for tool, arguments in PATCHED]
    calls += [(tool, {**arguments, "patch": f"{patch}+\u202e\n"}, "[argument-not-plain]") for tool, arguments in PATCHED]
    for path in (
        "../../etc/passwd",
        "/etc/passwd",
        ".git/config",
        "src/../.git/HEAD",
        "link",
        "link/passwd",
        "-h",
        "~",
        "a" * 999,
    ):
        calls += [
            ("check", {"file": path}, "[path-not-inside]"),
            ("profile_diff", {"before": path, "after": path}, "[path-not"),
        ]
        calls += [("check", {"file": "src/total.py", "launch": path}, "[path-not-inside]")]
    calls += [("check", {"file": "src/total.py", "launch": "src/total.py"}, "[launch-not-yaml]")]
    for name in ("../P1", "P1; id", SHELL, "P\u0661", "--help", "", "P1\n", "P" + "9" * 40):
        calls += [(tool, {"experiment": name}, "Error [") for tool in ("show", "run")]
    calls += [("try", {"patch": patch, "target": text}, "[arguments-unfit]") for text in (SHELL, "--json", "../here", "a" * 99)]
    calls += [("try", {"patch": patch, "target": "nowhere"}, "Error [")]
    calls += [("propose", {**fit, name: SHELL}, "[arg") for name in ("kind", "mode", "expect", "gain")]
    calls += [
        ("propose", {**fit, "kind": "perf\nforbids: [x]"}, "[arg"),
        ("propose", {**fit, "gain": "1, 2], forbids: [x"}, "[arg"),
    ]
    calls += [("propose", {**fit, "depends_on": [SHELL]}, "[arguments-not-a-proposal]")]
    calls += [("propose", {**fit, name: "x" * 5_000}, "[arguments-unfit]") for name in (*WORDS, "precondition")]
    calls += [("propose", {**fit, "patch": "x" * 1_000_001}, "[arguments-unfit]"), ("try", {"patch": "x" * 1_000_001}, "[arg")]
    calls += [("propose", {**fit, extra: "x"}, "[arguments-unfit]") for extra in ("id", "verdict", "forbids", "by", "author")]
    calls += [("propose", {**fit, "title": wrong}, "[arguments-unfit]") for wrong in (None, 1, ["a"], {"a": 1}, "")]
    calls += [("brief", {"words": wrong}, "[arguments-unfit]") for wrong in (0, 10**400, "4000", 1e308, True)]
    for path in ("protocol.yaml", "bench/test.py", "ledger.md", "experiments/P1/record.json", "../up", "/etc/passwd"):
        calls += [("propose", {**fit, "patch": DIFF.format(path)}, "Error ["), ("try", {"patch": DIFF.format(path)}, "Error [")]
    for path, mode in (
        (".git/hooks/pre-commit", "100755"),
        ("src/link", "120000"),
        ("src/run.sh", "100755"),
        ("src/conftest.py", "100644"),
    ):
        calls += [("propose", {**fit, "patch": NEW.format(path, mode, "/etc/passwd")}, "Error [")]
    return [*calls, ("propose", {**fit, "patch": SHELL}, "Error ["), ("rules_check", {"patch": SHELL}, "[text-not-a-patch]")]


PATCHED: tuple[tuple[str, dict[str, Any]], ...] = (("propose", WORDS), ("try", {}), ("rules_check", {}))


def test_what_is_hostile_gets_one_error_and_changes_nothing(repository: Foreign) -> None:
    repository.concluded("agents", "grant", "run")
    patch = patch_of(repository)
    (repository.root / "link").symlink_to("/etc")
    before = repository.snapshot()
    state = sorted(each.name for each in (repository.root / ".git" / "hooks").glob("*"))

    async def conversation(client: Client) -> None:
        for tool, arguments, says in hostile_calls(patch):
            said = await error(client, tool, **arguments)
            assert says in said, (tool, str(arguments)[:300], said)
            assert len(said) < 6_000
            assert not any(each in said for each in ("\x1b", "\x9b", "\0", "\u202e", "root:")), (tool, str(arguments)[:300])
        with pytest.raises(MCPError, match="no tool"):
            await client.call_tool("grant\x1b[2J", {"tool": "run"})
        await facts(client, "status")

    log = talk(repository, conversation)
    assert "Traceback" not in log
    assert repository.snapshot() == before
    assert sorted(each.name for each in (repository.root / ".git" / "hooks").glob("*")) == state
    assert not Path("/tmp/expctl-was-here").exists()
    assert repository.survivors() == []


def test_shell_text_in_words_is_kept_as_words(repository: Foreign) -> None:
    patch = patch_of(repository)

    async def conversation(client: Client) -> None:
        words = {"title": SHELL, "hypothesis": f"{SHELL}\n# a heading\n[a](javascript:b)"}
        assert (await facts(client, "propose", patch=patch, **words))["title"] == SHELL
        assert (await facts(client, "show", experiment="P1"))["facts"]["title"] == SHELL

    talk(repository, conversation)
    assert not Path("/tmp/expctl-was-here").exists()
    repository.concluded("ledger", "--check")


def test_what_others_wrote_is_spelled_out(repository: Foreign) -> None:
    repository.queue("P1", "def total(values):\n    return sum(v * v for v in values)\n")
    file = repository.root / "experiments" / "P1" / "experiment.yaml"
    file.write_text(file.read_text().replace("less to do", '"less \\e[2J\\u202E to do"'))
    repository.commit("a hostile hypothesis")

    async def conversation(client: Client) -> None:
        shown = await facts(client, "show", experiment="P1")
        assert shown["facts"]["hypothesis"] == "less \\x1b[2J\\u202e to do"
        for tool in ("brief", "status"):
            assert "\x1b" not in json.dumps(await facts(client, tool), ensure_ascii=False)

    talk(repository, conversation)


def test_a_file_of_the_repository_passes_for_no_module(repository: Foreign) -> None:
    for name in ("expctl", "msgspec", "json", "anyio", "mcp", "sitecustomize"):
        repository.write(f"{name}.py", "raise SystemExit('a file of the repository was run')\n")
    patch = patch_of(repository)

    async def conversation(client: Client) -> None:
        assert (await facts(client, "try", patch=patch))["passes"] is True

    assert "was run" not in talk(repository, conversation)


def test_a_forged_or_damaged_grant_grants_nothing(repository: Foreign) -> None:
    file = repository.root / ".git" / "expctl" / "grants.json"
    file.parent.mkdir(exist_ok=True)

    async def conversation(client: Client) -> None:
        for text in (
            "",
            "{",
            "[]",
            "null",
            '{"run": 1}',
            '{"run": "2999-01-01T00:00:00+00:00"}',
            '{"run": "2020-01-01T00:00"}',
        ):
            file.write_text(text)
            assert "[not-granted]" in await error(client, "run", experiment="P1")

    talk(repository, conversation)


def test_lines_that_are_no_messages_do_not_end_the_server(repository: Foreign) -> None:
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}
    messages = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "status", "arguments": [1]}},
        {
            "jsonrpc": "2.0",
            "id": 3,
            "method": "tools/call",
            "params": {"name": "propose", "arguments": {"patch": "x" * 20_000_000}},
        },
        {"jsonrpc": "2.0", "id": 4, "method": "tools/call", "params": {"name": "status"}},
    ]
    lines = [json.dumps(each).encode() for each in messages]
    garbage = [b"\xff\xfe{", b"[" * 100_000, b"{}", b'{"jsonrpc": "2.0", "id": "\\ud800", "method": 3}', b"\x1b[2J", b""]
    answers: dict[int, Any] = {}
    with subprocess.Popen(
        [EXPCTL, "mcp"], cwd=repository.root, env=repository.environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        server.stdin.write(b"\n".join([*lines[:2], *garbage, *lines[2:]]) + b"\n")
        server.stdin.flush()
        while 4 not in answers:
            line = server.stdout.readline()
            assert line, "the server ended"
            answer = json.loads(line)
            answers[answer.get("id")] = answer
        server.stdin.close()
        assert server.wait(240) == 0
    assert "error" in answers[2]
    assert answers[3]["result"]["isError"] is True
    assert answers[4]["result"]["structuredContent"]["queue"] == []


def test_a_full_queue_takes_no_more(repository: Foreign) -> None:
    from expctl.agents.writing import WAITING_MAX

    for number in range(WAITING_MAX):
        folder = repository.root / "experiments" / f"P{number}"
        folder.mkdir(parents=True)
        (folder / "experiment.yaml").write_text(f"id: P{number}\n")
        (folder / "change.patch").write_text("x\n")
    repository.commit("many")

    async def conversation(client: Client) -> None:
        assert "[queue-full]" in await error(client, "propose", patch="x", **WORDS)

    talk(repository, conversation)


def test_without_the_extra_one_line_says_what_to_install(repository: Foreign) -> None:
    program = "import sys; sys.modules['mcp'] = None; sys.argv = ['expctl', 'mcp']; from expctl.cli.app import main; main()"
    argv = [sys.executable, "-c", program]
    ended = subprocess.run(argv, cwd=repository.root, env=repository.environment, capture_output=True, text=True, input="")
    assert (ended.returncode, ended.stdout) == (1, "")
    assert ended.stderr.startswith("Error [mcp-not-installed]")
    assert "pip install 'expctl[agents]'" in ended.stderr


def test_outside_of_a_repository_nothing_is_served(tmp_path: Path) -> None:
    environment = {**os.environ, "GIT_CEILING_DIRECTORIES": str(tmp_path.parent)}
    ended = subprocess.run([EXPCTL, "mcp"], cwd=tmp_path, env=environment, capture_output=True, text=True, input="")
    assert (ended.returncode, ended.stdout) == (1, "")
    assert ended.stderr.startswith("Error [not-a-repository]")
