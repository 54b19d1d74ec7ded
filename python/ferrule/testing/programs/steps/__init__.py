"""The kinds of steps, a module for each family; each has a list OPERATIONS."""
