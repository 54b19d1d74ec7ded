"""A conformance kit that any backend can be held against: docs/kit.md."""
