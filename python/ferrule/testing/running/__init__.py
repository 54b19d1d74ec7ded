"""A device under test, its child process, and the execution of an op on it."""
