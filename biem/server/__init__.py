"""The HTTP API, MCP, hooks of coding agents, and the web page."""
