"""Hostile modules, and what becomes of them: creatures, the visits of a process to them, and the table of the docs."""
