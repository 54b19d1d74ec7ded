"""Hostile modules ("creatures"), the processes that load them ("visits"), and the table in the docs."""
