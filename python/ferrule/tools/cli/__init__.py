"""The verbs of `python -m ferrule`; `import ferrule` imports none of them."""
