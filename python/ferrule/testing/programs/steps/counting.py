"""bincount of given keys."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ferrule.testing.programs.model.inputs import Given
from ferrule.testing.programs.model.operation import Drawn, Operation, Reference, by_case
from ferrule.testing.programs.model.scope import Scope


class Bincount(Operation):
    def draw(self, scope: Scope) -> Drawn | None:
        x = scope.pick(lambda x: x.dtype.name in ("int32", "int64") and x.ndim == 1)
        if x is None:
            return None
        shape = scope.values[x].shape
        weights = scope.pick(lambda y: y.dtype.name == "int64" and y.shape == shape) or scope.add_input("int64", shape)
        return None if weights is None else self.drawn(x, weights, size=scope.between(0, 12))

    def text(self, operands: Sequence[str], attributes: Mapping[str, Any]) -> str:
        return f"fe.bincount({', '.join(operands)}, length={attributes['size']})"

    def reference(self, given: Given, attributes: Mapping[str, Any]) -> Reference:
        return by_case("bincount", given, attributes)


OPERATIONS: list[Operation] = [Bincount("bincount", 0.4)]
