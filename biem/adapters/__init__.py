"""Adapters: servers, models and libraries behind the ports, one folder per server or capability."""
