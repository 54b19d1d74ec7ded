"""The parts of random programs: memories, inputs, operations, and the scope from which steps are drawn."""
