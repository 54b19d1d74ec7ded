"""Hostile modules, the processes that load them, and the table in docs/develop/hostile.md."""
