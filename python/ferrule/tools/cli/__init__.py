"""The verbs of `python -m ferrule`; `import ferrule` does not import them."""
