"""Hostile modules, and the processes that load them."""
