"""The MCP server on standard input and output. The only file that knows the protocol's SDK."""

import asyncio
import sys
import traceback
from collections.abc import Callable
from importlib.metadata import version
from typing import Any, cast

import anyio
import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import NotificationOptions, Server
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import MCPError

from expctl.adapters.git.reader import Place
from expctl.agents import answers, arguments, guidance, reading, tools
from expctl.agents.grants import not_granted
from expctl.agents.input_lines import input_lines
from expctl.agents.long_tools import CommandFailed
from expctl.domain.errors import Busy, Interrupted, Refused
from expctl.domain.machine.os_errors import explained
from expctl.domain.text import one_line

Request = ServerRequestContext[object, object]

BUSY_WAIT_S = 3.0
SECONDS = "expctl-seconds"
"""Key of an answer's _meta: how long the tool itself took, without the protocol."""


class Agents:
    """Answers an agent's requests about the repository that `here` finds, anew for each request."""

    def __init__(self, here: Callable[[], Place]) -> None:
        self._here = here
        self._listed: frozenset[str] = frozenset()
        self._busy = ""

    def server(self) -> Server[object]:
        """Return the server, to be run on streams."""
        return Server(
            "expctl",
            version=version("expctl"),
            instructions=guidance.INSTRUCTIONS,
            on_list_tools=self._list_tools,
            on_call_tool=self._call,
            on_list_resources=self._list_resources,
            on_list_resource_templates=self._list_templates,
            on_read_resource=self._read,
        )

    async def _list_tools(self, _: Request, __: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        try:
            found = tools.offered(self._here())
        except Refused as refusal:
            raise MCPError(types.INTERNAL_ERROR, answers.error_text(refusal)) from None
        self._listed = frozenset(tool.name for tool in found)
        return types.ListToolsResult(tools=[_described(tool) for tool in found])

    async def _call(self, request: Request, params: types.CallToolRequestParams) -> types.CallToolResult:
        tool = tools.BY_NAME.get(params.name)
        if tool is None:
            raise MCPError(types.INVALID_PARAMS, f"there is no tool {one_line(params.name, 40)!r}; list the tools")
        try:
            place = self._here()
            now = tools.offered(place)
            if tool not in now:
                raise not_granted(tool.name) if tool.granted else _absent(tool.name)
            begun = anyio.current_time()
            answer = await self._answer(tool, place, arguments.read(params.arguments, tool.takes, tool.name), request)
            took_s = round(anyio.current_time() - begun, 4)
            await self._tell_of_change(request, now)
            facts = answers.plain(answer)
            text = answers.text_of(answer, facts)
            content: list[types.ContentBlock] = [types.TextContent(text=text)]
            return types.CallToolResult(content=content, structured_content=facts, _meta={SECONDS: took_s})
        except Refused as refusal:
            return _failed(answers.error_text(refusal))
        except CommandFailed as failed:
            return _failed(str(failed))
        except Interrupted as stop:
            return _failed(f"Interrupted: {one_line(str(stop), 300)}")
        except OSError as error:
            trouble = explained(error)
            if trouble is not None:
                return _failed(answers.error_text(trouble))
            return _bug()
        except Exception:  # noqa: BLE001  the boundary: everything else is our fault, and must not end the server
            return _bug()

    async def _answer(self, tool: tools.Tool, place: Place, taken: arguments.Arguments, request: Request) -> answers.Answer:
        if tool.quick is not None:
            return tool.quick(place, taken)
        if tool.long is None:
            raise TypeError(f"{tool.name} does nothing")
        with anyio.move_on_after(BUSY_WAIT_S):
            while self._busy:  # one that was cancelled takes a moment to end
                await anyio.sleep(0.05)
        if self._busy:
            raise Busy(
                f"{self._busy} is still under way",
                code="tool-busy",
                expected="one of try, run, profile_diff and check at a time",
                found=f"{self._busy}, not ended",
                hint="wait for its answer, or cancel it",
            )
        told = 0

        async def tell(text: str) -> None:
            nonlocal told
            told += 1
            await request.session.report_progress(told, None, text)

        self._busy = tool.name
        try:
            await tell(f"{tool.name} begins")
            return await tool.long(place, taken, tell)
        finally:
            self._busy = ""

    async def _tell_of_change(self, request: Request, now: tuple[tools.Tool, ...]) -> None:
        """Say that the list has changed, where a grant was given or has ended since it was asked for."""
        names = frozenset(tool.name for tool in now)
        if self._listed and names != self._listed:
            self._listed = names
            await request.session.send_tool_list_changed()

    async def _list_resources(self, _: Request, __: types.PaginatedRequestParams | None) -> types.ListResourcesResult:
        found = [
            types.Resource(name=name, uri=reading.SCHEME + name, mime_type=kind, description=f"{what} {tools.NO_EVIDENCE}")
            for name, (kind, what) in reading.RESOURCES.items()
        ]
        return types.ListResourcesResult(resources=found)

    async def _list_templates(self, _: Request, __: types.PaginatedRequestParams | None) -> types.ListResourceTemplatesResult:
        record = types.ResourceTemplate(
            name="record",
            uri_template=f"{reading.SCHEME}records/{{id}}",
            mime_type="application/json",
            description=f"record.json of a concluded experiment. {tools.NO_EVIDENCE}",
        )
        return types.ListResourceTemplatesResult(resource_templates=[record])

    async def _read(self, _: Request, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        try:
            kind, text = reading.resource(self._here(), str(params.uri))
        except Refused as refusal:
            raise MCPError(types.INVALID_PARAMS, answers.error_text(refusal)) from None
        contents = types.TextResourceContents(uri=str(params.uri), mime_type=kind, text=text)
        return types.ReadResourceResult(contents=[contents])


def serve(here: Callable[[], Place]) -> None:
    """Serve one client on standard input and output until it closes them."""

    async def main() -> None:
        asyncio.get_running_loop().set_exception_handler(_but_ctrl_c)
        server = Agents(here).server()
        said = cast("anyio.AsyncFile[str]", input_lines())  # Ctrl-C would wait for the SDK's own
        async with stdio_server(stdin=said) as (incoming, outgoing):
            options = server.create_initialization_options(NotificationOptions(tools_changed=True))
            await server.run(incoming, outgoing, options)

    anyio.run(main)


def _but_ctrl_c(loop: asyncio.AbstractEventLoop, said: dict[str, Any]) -> None:
    """Print what went wrong in the loop, unless it is that Ctrl-C ended it, which the command says itself."""
    found = said.get("exception")
    if not (isinstance(found, BaseExceptionGroup) and found.subgroup(KeyboardInterrupt)):
        loop.default_exception_handler(said)


def _described(tool: tools.Tool) -> types.Tool:
    hints = types.ToolAnnotations(
        title=tool.name.replace("_", " "),
        read_only_hint=tool.reads,
        destructive_hint=False,
        idempotent_hint=tool.repeats,
        open_world_hint=False,
    )
    takes, gives = arguments.schema_of(tool.takes), arguments.schema_of(tool.gives)
    return types.Tool(name=tool.name, description=tool.description, input_schema=takes, output_schema=gives, annotations=hints)


def _failed(text: str) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(text=text)], is_error=True)


def _bug() -> types.CallToolResult:
    traceback.print_exc(file=sys.stderr)
    return _failed("BUG: expctl failed; nothing it had committed is lost. The server's standard error has the traceback.")


def _absent(name: str) -> Refused:
    return Refused(
        f"{name} can't work here",
        code="tool-absent",
        expected="a committed protocol.yaml with a target whose tools are here; numpy for check",
        found="none",
        hint="ask a person to type: expctl doctor",
    )
