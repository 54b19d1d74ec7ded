"""The examination of `ferrule doctor`, and its output as text, page and data."""
