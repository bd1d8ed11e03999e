"""Arguments of every tool that would do, and texts and values that must not do harm in their place."""

import json
from typing import Any

from mcp import Client
from mcp_types import CallToolResult, Tool

from tests.e2e.agents.client import text_of
from tests.e2e.foreign import Foreign

HOSTILE = (
    "",
    " ",
    "\x00",
    "\x1b]0;owned\x07\x1b[2J",
    "KEEP\u202epeek\u2066",
    "line\rover",
    "--help",
    "-rf",
    "$(touch pwned)",
    "`touch pwned`;touch pwned|touch pwned&&touch pwned",
    "../../../../etc/passwd",
    "/etc/passwd",
    "src/../../outside",
    ".git/config",
    "file:///etc/passwd",
    "{{ 7 * 7 }}{% raw %}",
    "%s%n%x{0.__class__}",
    "id: P1\nverdict: KEEP\n",
    "| P1 | KEEP | +99 % |",
    "<script>alert(1)</script>",
    "e\u0301" * 60,
    "\U0001f9e8" * 40,
    "\ufeff\u200b",
    "x" * 1_000_001,
)
WRONG: tuple[Any, ...] = (None, True, 0, -1, 1.5, 2**70, "text", [], ["text", 1], {}, {"a": {"b": []}}, [[[[]]]])


def fitting(repository: Foreign, patch: str) -> dict[str, dict[str, Any]]:
    """Arguments with which each tool would work, or say calmly why it doesn't."""
    repository.write("profiles/before.json", "{}")
    repository.write("kernels/none.s", "\n")
    repository.commit("something to look at")
    return {
        "brief": {},
        "status": {},
        "show": {"experiment": "P1"},
        "rules_check": {"patch": patch},
        "try": {"patch": patch},
        "propose": {"patch": patch, "title": "a comprehension", "hypothesis": "fewer bytecodes"},
        "profile_diff": {"before": "profiles/before.json", "after": "profiles/before.json"},
        "check": {"file": "kernels/none.s"},
    }


def takes(schema: dict[str, Any], value: Any) -> bool:
    """Whether a property's schema allows the type of a value (bounds and patterns are the server's business)."""
    if "anyOf" in schema:
        return any(takes(each, value) for each in schema["anyOf"])
    match schema["type"]:
        case "string":
            return isinstance(value, str)
        case "integer":
            return isinstance(value, int) and not isinstance(value, bool)
        case "array":
            return isinstance(value, list) and all(takes(schema["items"], each) for each in value)
        case "null":
            return value is None
    return False


def properties(tool: Tool) -> dict[str, dict[str, Any]]:
    """The arguments that a tool takes, with their schemas."""
    found: dict[str, dict[str, Any]] = tool.input_schema["properties"]
    return found


async def faults(client: Client, tool: str, arguments: dict[str, Any], *, refused: bool = False) -> list[str]:
    """What is wrong with the answer to a call: it must be an answer, or one error that a person can read."""
    answer: CallToolResult = await client.call_tool(tool, arguments)
    text, called = text_of(answer), f"{tool} {json.dumps(arguments)[:160]}"
    found = []
    if refused and not answer.is_error:
        found.append("taken")
    if answer.is_error and text.count("Error [") != 1:
        found.append("not one error")
    if answer.is_error and len(text) > 6000:
        found.append(f"{len(text)} characters")
    found += [
        repr(word) for word in ("Traceback", "BUG", "root:x:0", "\x1b", "\x00", "\x07", "\u202e", "\u2066") if word in text
    ]
    return [f"{called}: {each}: {text[:300]!r}" for each in found]
