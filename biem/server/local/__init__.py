"""The server for the person at this machine: `biem web`, which needs no key."""
