"""The memory as an MCP server: seven tools, three resources and a prompt, over stdio or under `/mcp`."""
