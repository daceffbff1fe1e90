"""MCP: the registry as the official SDK serves it, and answers and refusals as tool results.

A refused call is a result with `isError`, its text in our words and its code in `_meta`; only an unknown tool is a
JSON-RPC error. Structured content must be an object, so a list stands under `result` in it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import mcp_types as types
import msgspec
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError

from clew import __version__
from clew.app import Clew
from clew.errors import ClewError
from clew.scope import Principal
from clew.tools.registry import Registry, Tool

INSTRUCTIONS = """\
Clew keeps conversations. At the start of a request, call fetch_chat_history with the conversation's id to know what \
was said; at the end, call record_interaction to store the exchange. create_conversation starts one, \
list_conversations finds earlier ones. Give request_id when you may retry a write."""
CODE = "clew/code"

Ready = Callable[[], Awaitable[Clew]]


def mcp_server(tools: Registry, ready: Ready, principal: Principal) -> Server[Any]:
    """An MCP server over these tools. `ready` gives the open memory, once it is open."""
    listed = types.ListToolsResult(tools=[_described(tool) for tool in tools.tools.values()])

    async def list_tools(ctx: object, params: object) -> types.ListToolsResult:
        return listed

    async def call_tool(ctx: object, params: types.CallToolRequestParams) -> types.CallToolResult:
        if params.name not in tools.tools:
            raise MCPError(types.INVALID_PARAMS, f"There is no tool named {params.name[:80]}")
        try:
            clew = await ready()
            return _answered(await clew.call(params.name, params.arguments or {}, principal))
        except ClewError as error:
            return _refused(error)

    return Server(
        "clew",
        version=__version__,
        title="Clew",
        instructions=INSTRUCTIONS,
        get_tool_input_schema=lambda name: tools.tools[name].schema if name in tools.tools else None,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


def _described(tool: Tool) -> types.Tool:
    return types.Tool(
        name=tool.name,
        description=tool.description,
        input_schema=tool.schema,
        annotations=types.ToolAnnotations(
            title=tool.name.replace("_", " ").capitalize(),
            read_only_hint=tool.read_only,
            destructive_hint=tool.destructive,
            idempotent_hint=tool.idempotent,
            open_world_hint=False,
        ),
    )


def _answered(answer: Any) -> types.CallToolResult:
    text = msgspec.json.encode(answer).decode()
    structured = answer if isinstance(answer, dict) else {"result": answer}
    return types.CallToolResult(content=[types.TextContent(text=text)], structured_content=structured)


def _refused(error: ClewError) -> types.CallToolResult:
    return types.CallToolResult(
        content=[types.TextContent(text=f"Error: {error.message}")], is_error=True, _meta={CODE: error.code}
    )
