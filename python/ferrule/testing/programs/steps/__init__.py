"""The operations of steps: one module for each family, with a list OPERATIONS."""
