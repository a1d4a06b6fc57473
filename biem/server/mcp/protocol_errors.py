"""Errors for MCP clients: of wrong requests for prompts, which the SDK reports as its own failure, and of arguments."""

from typing import Any

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.shared.exceptions import MCPError
from mcp.types import INTERNAL_ERROR, INVALID_PARAMS
from pydantic import ValidationError

from biem.client.faults import place_of, words_of


class MemoryServer(MCPServer[Any]):
    """The SDK's server, which answers a wrong request for a prompt as its own failure, wrong arguments at length."""

    async def get_prompt(self, name: str, arguments: dict[str, Any] | None = None, context: Any = None) -> Any:
        """A prompt; raises `MCPError` for a name or arguments that it does not have."""
        prompts = {prompt.name: prompt for prompt in await self.list_prompts()}
        if name not in prompts:
            raise MCPError(INVALID_PARAMS, f"there is no prompt {name!r:.60}; known are {', '.join(prompts)}")
        known = {each.name: each.required for each in prompts[name].arguments or ()}
        given = arguments or {}
        missing = [each for each, required in known.items() if required and each not in given]
        if missing or not known.keys() >= given.keys():
            raise MCPError(INVALID_PARAMS, f"the prompt {name!r} takes the arguments {', '.join(known)}, and no others")
        return await super().get_prompt(name, arguments, context)

    async def call_tool(self, name: str, arguments: dict[str, Any], context: Any = None) -> Any:
        """The answer of a tool; wrong arguments are an error in words that say what to send."""
        try:
            return await super().call_tool(name, arguments, context)
        except ToolError as error:
            if not isinstance(error.__cause__, ValidationError):
                raise
            faults = error.__cause__.errors(include_url=False, include_input=False)
            said = "; ".join(f"{place_of(fault)}: {words_of(fault)}" for fault in faults)
            raise ToolError(f"{name}: {said}") from None


def protocol_error(message: str) -> MCPError:
    """An answer in place of a result, with words that a client may read."""
    return MCPError(INTERNAL_ERROR, message)
