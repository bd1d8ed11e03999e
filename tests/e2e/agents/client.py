"""The official client, talking to a real `expctl mcp` over pipes."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import anyio
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp_types import CallToolResult, TextContent

from tests.e2e.foreign import EXPCTL, FASTER, Foreign

LIMIT_S = 120.0
WORDS = {"title": "a comprehension", "hypothesis": "fewer bytecodes for each value"}


def talk(repository: Foreign, conversation: Callable[[Client], Awaitable[None]], *, cwd: Path | None = None) -> str:
    """Hold a conversation with a server in the repository, and return what the server wrote to standard error."""
    server = StdioServerParameters(
        command=str(EXPCTL), args=["mcp"], env=repository.environment, cwd=str(cwd or repository.root)
    )
    log = repository.home / "server.log"

    async def main() -> None:
        with open(log, "w") as errors, anyio.fail_after(LIMIT_S):
            async with Client(stdio_client(server, errlog=errors)) as client:
                try:
                    await conversation(client)
                except Exception as error:  # noqa: BLE001  out of the client's groups, which would wrap it
                    failed.append(error)

    failed: list[Exception] = []
    anyio.run(main)
    if failed:
        raise failed[0]
    return log.read_text()


async def facts(client: Client, tool: str, **arguments: Any) -> Any:
    """Call a tool that has to succeed, and return its structured answer."""
    answer = await client.call_tool(tool, arguments)
    assert not answer.is_error, text_of(answer)
    return answer.structured_content


async def error(client: Client, tool: str, **arguments: Any) -> str:
    """Call a tool that has to fail, and return what it says: one error."""
    answer = await client.call_tool(tool, arguments)
    text = text_of(answer)
    assert answer.is_error, text
    assert text.count("Error [") == 1, text
    assert "Traceback" not in text
    return text


def text_of(answer: CallToolResult) -> str:
    """The text of an answer, which is one block."""
    (block,) = answer.content
    assert isinstance(block, TextContent)
    return block.text


def patch_of(repository: Foreign, kernel: str = FASTER, file: str = "src/total.py") -> str:
    """The patch that gives the kernel this text; the work tree is as before."""
    repository.write(file, kernel)
    patch = repository.git("diff") + "\n"
    repository.git("checkout", "-q", "--", file)
    return patch
