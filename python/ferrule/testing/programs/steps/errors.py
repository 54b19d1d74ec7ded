"""Steps that must raise an error, as NumPy does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ferrule.testing.model.dtypes import NUMERIC
from ferrule.testing.programs.model.inputs import Given
from ferrule.testing.programs.model.operation import Drawn, Operation, Reference, exact
from ferrule.testing.programs.model.scope import Scope


class Wrong(Operation):
    """A wrong call: `text` is the expression with ferrule, `numpy` that with NumPy. {0} and {1} are the operands."""

    raises = True

    def __init__(self, name: str, text: str, numpy: str, least_rank: int = 0) -> None:
        super().__init__(name, 0)
        self._text, self._numpy, self._least_rank = text, numpy, least_rank

    def draw(self, scope: Scope) -> Drawn | None:
        rank, numeric = self._least_rank, set(NUMERIC)
        x = scope.pick(lambda v: v.ndim >= rank and v.size > 0 and v.dtype.name in numeric and v.shape[-1:] != (7,))
        if x is None:
            return None
        operands = [x]
        if "{1}" in self._text:
            dtype, shape, limits = scope.values[x].dtype.name, (7,), None
            if self.name == "take_outside":
                size = scope.values[x].shape[0]
                dtype, shape, limits = "int64", (3,), (size, size + 3) if scope.one_in(2) else (-size - 9, -size - 1)
            other = scope.add_input(dtype, shape, limits=limits)
            if other is None:
                return None
            operands.append(other)
        if not self._is_wrong([scope.values[name] for name in operands]):
            return None
        return self.drawn(*operands)

    def _is_wrong(self, given: Given) -> bool:
        try:
            eval(self._numpy.format(*(f"given[{k}]" for k in range(len(given)))), {"np": np, "given": given})
        except (ValueError, IndexError, TypeError):
            return True
        return False

    def text(self, operands: Sequence[str], attributes: Mapping[str, Any]) -> str:
        return self._text.format(*operands)

    def reference(self, given: Given, attributes: Mapping[str, Any]) -> Reference:
        return exact(given[0])  # later steps are never computed


OPERATIONS: list[Operation] = [
    Wrong("take_outside", "fe.take({0}, {1}, axis=0)", "np.take({0}, {1}, axis=0)", 1),
    Wrong("add_shapes", "fe.add({0}, {1})", "np.add({0}, {1})", 1),
    Wrong("reshape_wrongly", "fe.reshape({0}, (3, 1001))", "np.reshape({0}, (3, 1001))"),
    Wrong("axis_outside", "fe.sum({0}, axis=7)", "np.sum({0}, axis=7)"),
    Wrong("index_outside", "{0}[1000000]", "{0}[1000000]", 1),
    Wrong("indices_outside", "{0}[[0, 1000000]]", "{0}[[0, 1000000]]", 1),
    Wrong("matmul_sizes", "fe.matmul({0}, {1})", "np.matmul({0}, {1})", 2),
    Wrong("concat_ranks", "fe.concat([{0}, {1}], axis=0)", "np.concatenate([{0}, {1}], axis=0)", 2),
    Wrong("broadcast_wrongly", "fe.broadcast_to({0}, (1000003,))", "np.broadcast_to({0}, (1000003,))", 2),
]
