"""Real servers, models and libraries behind the ports, one file a server."""
