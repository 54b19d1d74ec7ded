"""`Array`, and how an op is recorded: operands, Python numbers, attributes, host memory."""
