"""Code that may crash or hang runs in a process of its own, so that a crash becomes an error message."""

from __future__ import annotations

from ferrule.tools.child.parent import Child, ChildEnded, ChildError, how_it_ended

__all__ = ["Child", "ChildEnded", "ChildError", "how_it_ended"]
