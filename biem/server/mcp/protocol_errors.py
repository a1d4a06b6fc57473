"""Protocol errors for MCP clients: of wrong requests for prompts, which the SDK reports as its own failure."""

from typing import Any

from mcp.server.mcpserver import MCPServer
from mcp.shared.exceptions import MCPError
from mcp.types import INTERNAL_ERROR, INVALID_PARAMS


class MemoryServer(MCPServer[Any]):
    """The SDK's server, which answers a wrong request for a prompt as its own failure, with a traceback in the log."""

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


def protocol_error(message: str) -> MCPError:
    """An answer in place of a result, with words that a client may read."""
    return MCPError(INTERNAL_ERROR, message)
