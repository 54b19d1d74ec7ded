"""The parts of a case: dtypes, values, problems, tolerances. Nothing here runs a module."""
