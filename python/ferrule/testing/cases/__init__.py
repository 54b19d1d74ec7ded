"""The cases: one file for each family of ops, with a list CASES. The files are found by their folder."""
