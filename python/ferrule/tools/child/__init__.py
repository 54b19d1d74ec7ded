"""A process of its own for what may crash or hang, so that neither is more than a sentence."""

from __future__ import annotations

from ferrule.tools.child.parent import Child, ChildEnded, ChildError, how_it_ended

__all__ = ["Child", "ChildEnded", "ChildError", "how_it_ended"]
