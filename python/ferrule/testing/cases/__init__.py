"""The cases: one file a family of ops. Each file has a list CASES; nothing else names it."""
