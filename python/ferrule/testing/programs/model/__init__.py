"""What random programs are made of: memories, inputs, operations, and the scope from which steps are drawn."""
