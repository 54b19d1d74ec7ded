"""What a case is made of: dtypes, values, problems, tolerances. It runs nothing."""
