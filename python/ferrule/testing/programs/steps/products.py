"""Matrix products and attention."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ferrule.testing.model.dtypes import FLOATS, INTEGERS, Values
from ferrule.testing.programs.model.inputs import Given
from ferrule.testing.programs.model.operation import Drawn, Operation, Reference, by_case
from ferrule.testing.programs.model.scope import Scope, meet, shared_dtype
from ferrule.testing.programs.model.tameness import is_tame

NUMBERS = (*INTEGERS, *FLOATS)


class Product(Operation):
    """matmul or `@`, also with vectors on either side."""

    def draw(self, scope: Scope) -> Drawn | None:
        x = scope.of_dtype("matmul", NUMBERS, 1)
        if x is None:
            return None
        value = scope.values[x]
        dtype = value.dtype.name

        def matches(y: Values) -> bool:
            if y.ndim == 0 or y.dtype.name != dtype or y.shape[0 if y.ndim == 1 else -2] != value.shape[-1]:
                return False
            return self._is_small(scope, value.shape, y.shape)

        other = None if scope.one_in(3) else scope.pick(matches)
        if other is None:
            columns = scope.choose([1, 2, 3, 5, 8, 17, 33])
            shape = (value.shape[-1],) if scope.one_in(5) else (value.shape[-1], columns)
            if len(shape) > 1 and value.ndim > 2 and scope.one_in(3):
                shape = (*scope.beside(value.shape[:-2]), *shape)
            if not self._is_small(scope, value.shape, shape):
                return None
            other = scope.add_input(dtype, shape)
        return None if other is None else self.drawn(x, other, symbol=scope.one_in(2))

    @staticmethod
    def _is_small(scope: Scope, x: tuple[int, ...], y: tuple[int, ...]) -> bool:
        try:
            batch = np.broadcast_shapes(x[:-2], y[:-2])
        except ValueError:
            return False
        size = int(np.prod((*batch, *x[-2:-1], *(y[-1:] if len(y) > 1 else ())), dtype=object))
        return size <= scope.most and size * x[-1] <= 64 * scope.most

    def text(self, operands: Sequence[str], attributes: Mapping[str, Any]) -> str:
        return f"{operands[0]} @ {operands[1]}" if attributes["symbol"] else f"fe.matmul({', '.join(operands)})"

    def reference(self, given: Given, attributes: Mapping[str, Any]) -> Reference:
        x, y = given
        row = x.reshape(1, -1) if x.ndim == 1 else x
        column = y.reshape(-1, 1) if y.ndim == 1 else y
        found = by_case("matmul", [row, column])
        tame = is_tame(x) and is_tame(y) and is_tame(np.array([np.abs(v).max() if v.size else 0 for v in (x, y)]))
        result = Reference(**{**vars(found), "is_judged": tame})
        if x.ndim > 1 and y.ndim > 1:
            return result
        return Squeezed(result, (*([-2] if x.ndim == 1 else []), *([-1] if y.ndim == 1 else [])))


def draw_factors(scope: Scope, op: str, dtypes: Sequence[str], rank: int, *, has_rows: bool) -> tuple[str, str] | None:
    """Draw a value with at least `rank` axes, and a new matrix of its dtype: its right factor, or rows of weights."""
    x = scope.of_dtype(op, dtypes, rank)
    if x is None:
        return None
    shape, dtype = scope.values[x].shape, scope.values[x].dtype.name
    columns = scope.choose([1, 2, 5, 17, 33])
    size = int(np.prod((*shape[:-1], columns), dtype=object))
    if not scope.takes(op, dtype, dtype) or size > scope.most or size * shape[-1] > 64 * scope.most:
        return None
    other = scope.add_input(dtype, (columns, shape[-1]) if has_rows else (shape[-1], columns))
    return None if other is None else (x, other)


class ProductOfIntegers(Operation):
    """matmul_integer of matrices."""

    def draw(self, scope: Scope) -> Drawn | None:
        factors = draw_factors(scope, self.name, INTEGERS, 2, has_rows=False)
        return factors and self.drawn(*factors)

    def text(self, operands: Sequence[str], attributes: Mapping[str, Any]) -> str:
        return f"fe.matmul_integer({', '.join(operands)})"

    def reference(self, given: Given, attributes: Mapping[str, Any]) -> Reference:
        return by_case(self.name, given)


class Squeezed(Reference):
    """The reference of a product with a vector, which is judged as one of matrices."""

    def __init__(self, of: Reference, axes: tuple[int, ...]) -> None:
        super().__init__(**{**vars(of), "truth": np.squeeze(of.truth, axes)})
        object.__setattr__(self, "_of", of)

    def fault(self, got: Values) -> str:
        of: Reference = self._of  # type: ignore[attr-defined]
        if got.shape != self.truth.shape:
            return super().fault(got)
        return of.fault(got.reshape(of.truth.shape))


class Attention(Operation):
    def draw(self, scope: Scope) -> Drawn | None:
        query = scope.of_dtype("scaled_dot_product_attention", FLOATS, 2)
        if query is None:
            return None
        value = scope.values[query]
        dtype, leading = value.dtype.name, value.shape[:-2]
        if not scope.takes(self.name, dtype, dtype, dtype) or value.ndim > 4:
            return None
        length, size = scope.choose([1, 2, 3, 5, 9, 33]), scope.choose([1, 2, 4, 7])
        key = scope.add_input(dtype, (*leading, length, value.shape[-1]), "ordinary")
        values = scope.add_input(dtype, (*leading, length, size), "ordinary")
        if key is None or values is None:
            return None
        operands = [query, key, values]
        if scope.one_in(2):
            rows = value.shape[-2]
            shape = scope.choose([(rows, length), (rows, 1), (1, length), (length,), (*leading, rows, length)])
            mask = scope.add_input("bool", shape)
            if mask is None:
                return None
            operands.append(mask)
        return self.drawn(*operands, scale=scope.choose([0.0, 0.5]), causal=scope.one_in(3))

    def text(self, operands: Sequence[str], attributes: Mapping[str, Any]) -> str:
        given = f"scale={attributes['scale']}, causal={attributes['causal']}"
        return f"fe.scaled_dot_product_attention({', '.join(operands)}, {given})"

    def reference(self, given: Given, attributes: Mapping[str, Any]) -> Reference:
        dtype = shared_dtype(given[:3])
        assert dtype is not None
        inputs = [*meet(given[:3], dtype), *given[3:]]
        found = by_case(self.name, inputs, attributes, variant="keeps" if len(given) > 3 else "")
        tame = all(is_tame(x, 4) for x in inputs[:3])
        return Reference(**{**vars(found), "is_judged": tame})


class Rows(Operation):
    """linear: rows times the rows of weights."""

    def draw(self, scope: Scope) -> Drawn | None:
        factors = draw_factors(scope, self.name, FLOATS, 1, has_rows=True)
        return factors and self.drawn(*factors)

    def text(self, operands: Sequence[str], attributes: Mapping[str, Any]) -> str:
        return f"fe.linear({', '.join(operands)})"

    def reference(self, given: Given, attributes: Mapping[str, Any]) -> Reference:
        found = by_case(self.name, given)
        tame = all(is_tame(np.array([np.abs(v).max() if v.size else 0])) and is_tame(v) for v in given)
        return Reference(**{**vars(found), "is_judged": tame})


class Rotation(Operation):
    """rope, with numbers of any size as cosines and sines."""

    def draw(self, scope: Scope) -> Drawn | None:
        x = scope.of_dtype(self.name, FLOATS, 1)
        if x is None:
            return None
        shape, dtype = scope.values[x].shape, scope.values[x].dtype.name
        if not scope.takes(self.name, dtype, dtype, dtype):
            return None
        table = (*scope.beside(shape[:-1]), scope.between(0, shape[-1] // 2))
        cosines, sines = (scope.add_input(dtype, table, "ordinary") for _ in range(2))
        if cosines is None or sines is None:
            return None
        return self.drawn(x, cosines, sines, interleaved=scope.one_in(2))

    def text(self, operands: Sequence[str], attributes: Mapping[str, Any]) -> str:
        return f"fe.rope({', '.join(operands)}, interleaved={attributes['interleaved']})"

    def reference(self, given: Given, attributes: Mapping[str, Any]) -> Reference:
        found = by_case(self.name, given, attributes)
        return Reference(**{**vars(found), "is_judged": all(map(is_tame, given))})


OPERATIONS: list[Operation] = [
    Product("matmul", 2),
    ProductOfIntegers("matmul_integer", 0.5),
    Attention("scaled_dot_product_attention", 0.6),
    Rows("linear", 0.5),
    Rotation("rope", 0.5),
]
