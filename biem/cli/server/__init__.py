"""Commands about the server: `serve`, `web` and `keys`."""
