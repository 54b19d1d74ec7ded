"""Sorting, distinct elements, topk, frexp, nonzero, compress, dynamic slices. A step uses one of several outputs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ferrule.testing.cases.sets import found as distinct
from ferrule.testing.cases.sorting import sorted_indices
from ferrule.testing.model.dtypes import FLOATS, NUMERIC, REALS, Values, widen
from ferrule.testing.model.oracles import fitted
from ferrule.testing.programs.model.inputs import Given
from ferrule.testing.programs.model.operation import Drawn, Operation, Reference, by_case, exact
from ferrule.testing.programs.model.scope import Scope
from ferrule.testing.programs.model.tameness import is_tame, is_tame_product


class TopK(Operation):
    def draw(self, scope: Scope) -> Drawn | None:
        x = scope.of_dtype("topk", NUMERIC, 1)
        if x is None:
            return None
        shape = scope.values[x].shape
        axis = scope.between(-len(shape), len(shape) - 1)
        k = scope.between(0, shape[axis])
        return self.drawn(x, k=k, axis=axis, largest=not scope.one_in(3), output=scope.choose(["values", "indices"]))

    def text(self, operands: Sequence[str], attributes: Mapping[str, Any]) -> str:
        k, axis, largest, output = (attributes[name] for name in ("k", "axis", "largest", "output"))
        return f"fe.topk({operands[0]}, {k}, axis={axis}, largest={largest}).{output}"

    def reference(self, given: Given, attributes: Mapping[str, Any]) -> Reference:
        own = {name: value for name, value in attributes.items() if name != "output"}
        return by_case("topk", given, own, output=attributes["output"])


class Sort(Operation):
    """sort and argsort."""

    def draw(self, scope: Scope) -> Drawn | None:
        x = scope.of_dtype(self.name, REALS, 1)
        if x is None:
            return None
        rank = scope.values[x].ndim
        return self.drawn(x, axis=scope.between(-rank, rank - 1), descending=scope.one_in(3))

    def text(self, operands: Sequence[str], attributes: Mapping[str, Any]) -> str:
        return f"fe.{self.name}({operands[0]}, axis={attributes['axis']}, descending={attributes['descending']})"

    def reference(self, given: Given, attributes: Mapping[str, Any]) -> Reference:
        axis, descending = attributes["axis"], attributes["descending"]
        turned = np.moveaxis(widen(given[0]), axis, -1)
        order = sorted_indices(turned, descending)
        if self.name == "argsort":
            return exact(np.moveaxis(order, -1, axis))
        return exact(np.take_along_axis(given[0], np.moveaxis(order, -1, axis), axis))


class TakeAlongAxis(Operation):
    """The elements in sorted order."""

    def draw(self, scope: Scope) -> Drawn | None:
        x = scope.of_dtype("take_along_axis", REALS, 1)
        if x is None or not scope.takes("argsort", scope.values[x].dtype.name):
            return None
        rank = scope.values[x].ndim
        return self.drawn(x, axis=scope.between(-rank, rank - 1))

    def text(self, operands: Sequence[str], attributes: Mapping[str, Any]) -> str:
        x, axis = operands[0], attributes["axis"]
        return f"fe.take_along_axis({x}, fe.argsort({x}, axis={axis}), axis={axis})"

    def reference(self, given: Given, attributes: Mapping[str, Any]) -> Reference:
        axis = attributes["axis"]
        order = sorted_indices(np.moveaxis(widen(given[0]), axis, -1), False)
        return exact(np.take_along_axis(given[0], np.moveaxis(order, -1, axis), axis))


class SearchSorted(Operation):
    """Every element of an array is searched in the sorted array."""

    def draw(self, scope: Scope) -> Drawn | None:
        x = scope.of_dtype("searchsorted", REALS)
        if x is None or not scope.takes("sort", scope.values[x].dtype.name):
            return None
        return self.drawn(x, side=scope.choose(["left", "right"]))

    def text(self, operands: Sequence[str], attributes: Mapping[str, Any]) -> str:
        return f"fe.searchsorted(fe.sort(fe.reshape({operands[0]}, -1)), {operands[0]}, side={attributes['side']!r})"

    def reference(self, given: Given, attributes: Mapping[str, Any]) -> Reference:
        x = widen(given[0])
        found = np.searchsorted(np.sort(x.reshape(-1)), x, attributes["side"])
        return exact(np.asarray(found, np.int64).reshape(x.shape))


class Cumulative(Operation):
    """cumulative_sum and cumulative_prod."""

    def draw(self, scope: Scope) -> Drawn | None:
        x = scope.of_dtype(self.name, REALS, 1)
        if x is None:
            return None
        rank = scope.values[x].ndim
        return self.drawn(x, axis=scope.between(-rank, rank - 1), include_initial=scope.one_in(3))

    def text(self, operands: Sequence[str], attributes: Mapping[str, Any]) -> str:
        axis, initial = attributes["axis"], attributes["include_initial"]
        return f"fe.{self.name}({operands[0]}, axis={axis}, include_initial={initial})"

    def reference(self, given: Given, attributes: Mapping[str, Any]) -> Reference:
        tame = is_tame(given[0]) if self.name == "cumulative_sum" else is_tame_product(given[0])
        return Reference(**{**vars(by_case(self.name, given, attributes)), "is_judged": tame})


class Unique(Operation):
    """unique_all and the other functions that return some of its results."""

    def __init__(self, op: str, weight: float, *outputs: str):
        super().__init__(op, weight)
        self._outputs = outputs

    def draw(self, scope: Scope) -> Drawn | None:
        x = scope.of_dtype(self.name, REALS)
        if x is None:
            return None
        size = scope.between(0, scope.values[x].size + 1)
        return self.drawn(x, size=size, output=scope.choose(self._outputs))

    def text(self, operands: Sequence[str], attributes: Mapping[str, Any]) -> str:
        result = "" if self.name == "unique_values" else f".{attributes['output']}"
        return f"fe.{self.name}({operands[0]}, size={attributes['size']}){result}"

    def reference(self, given: Given, attributes: Mapping[str, Any]) -> Reference:
        x, output, size = given[0], attributes["output"], attributes["size"]
        flat = widen(x.reshape(-1))
        if output == "inverse_indices":
            return exact(distinct("inverse_indices", flat, size).reshape(x.shape))
        if output == "counts":
            return exact(distinct("counts", flat, size))
        indices = distinct("indices", flat, int(distinct("count", flat, size)))
        return exact(fitted(indices if output == "indices" else x.reshape(-1)[indices], size))


class Frexp(Operation):
    def draw(self, scope: Scope) -> Drawn | None:
        x = scope.of_dtype("frexp", FLOATS)
        return None if x is None else self.drawn(x, output=scope.choose(["mantissa", "exponent"]))

    def text(self, operands: Sequence[str], attributes: Mapping[str, Any]) -> str:
        return f"fe.frexp({operands[0]}).{attributes['output']}"

    def reference(self, given: Given, attributes: Mapping[str, Any]) -> Reference:
        return by_case("frexp", given, output=attributes["output"])


class Nonzero(Operation):
    def draw(self, scope: Scope) -> Drawn | None:
        x = scope.of_dtype("nonzero", REALS, 1)
        if x is None:
            return None
        value = scope.values[x]
        return self.drawn(x, size=scope.between(0, value.size + 1), axis=scope.below(value.ndim))

    def text(self, operands: Sequence[str], attributes: Mapping[str, Any]) -> str:
        return f"fe.nonzero({operands[0]}, size={attributes['size']})[{attributes['axis']}]"

    def reference(self, given: Given, attributes: Mapping[str, Any]) -> Reference:
        found: Values = np.argwhere(given[0] != 0)
        return exact(fitted(found, attributes["size"])[:, attributes["axis"]])


class Compress(Operation):
    def draw(self, scope: Scope) -> Drawn | None:
        x = scope.of_dtype("compress", REALS, 1)
        if x is None:
            return None
        shape = scope.values[x].shape
        axis = scope.below(len(shape))
        condition = scope.pick(lambda c: c.dtype == np.bool_ and c.shape == (shape[axis],))
        condition = condition or scope.add_input("bool", (shape[axis],))
        if condition is None:
            return None
        return self.drawn(condition, x, axis=axis, size=scope.between(0, shape[axis] + 1))

    def text(self, operands: Sequence[str], attributes: Mapping[str, Any]) -> str:
        return f"fe.compress({', '.join(operands)}, axis={attributes['axis']}, size={attributes['size']})"

    def reference(self, given: Given, attributes: Mapping[str, Any]) -> Reference:
        axis, size = attributes["axis"], attributes["size"]
        return exact(fitted(np.compress(given[0], given[1], axis), size, axis))


class DynamicSlice(Operation):
    def draw(self, scope: Scope) -> Drawn | None:
        x = scope.of_dtype("dynamic_slice", REALS, 1)
        if x is None:
            return None
        sizes = [scope.between(0, size) for size in scope.values[x].shape]
        starts = [scope.between(0, room - size) for room, size in zip(scope.values[x].shape, sizes, strict=True)]
        return self.drawn(x, starts=starts, sizes=sizes)

    def text(self, operands: Sequence[str], attributes: Mapping[str, Any]) -> str:
        return f"fe.dynamic_slice({operands[0]}, {attributes['starts']}, {attributes['sizes']})"

    def reference(self, given: Given, attributes: Mapping[str, Any]) -> Reference:
        return exact(given[0][part_of(attributes["starts"], attributes["sizes"])])


class UpdateSlice(Operation):
    def draw(self, scope: Scope) -> Drawn | None:
        x = scope.of_dtype("update_slice", REALS, 1)
        if x is None:
            return None
        value = scope.values[x]
        fits = scope.pick(
            lambda y: (
                y.dtype == value.dtype
                and y.ndim == value.ndim
                and all(size <= room for size, room in zip(y.shape, value.shape, strict=True))
            )
        )
        sizes = tuple(scope.between(0, size) for size in value.shape)
        part = fits or scope.add_input(value.dtype.name, sizes)
        if part is None:
            return None
        sizes = scope.values[part].shape
        starts = [scope.between(0, room - size) for room, size in zip(value.shape, sizes, strict=True)]
        return self.drawn(x, part, starts=starts)

    def text(self, operands: Sequence[str], attributes: Mapping[str, Any]) -> str:
        return f"fe.update_slice({', '.join(operands)}, {attributes['starts']})"

    def reference(self, given: Given, attributes: Mapping[str, Any]) -> Reference:
        result = given[0].copy()
        result[part_of(attributes["starts"], given[1].shape)] = given[1]
        return exact(result)


def part_of(starts: Sequence[int], sizes: Sequence[int]) -> tuple[slice, ...]:
    return tuple(slice(start, start + size) for start, size in zip(starts, sizes, strict=True))


OPERATIONS: list[Operation] = [
    DynamicSlice("dynamic_slice", 0.7),
    UpdateSlice("update_slice", 1),
    TopK("topk", 0.7),
    Sort("sort", 0.6),
    Sort("argsort", 0.6),
    TakeAlongAxis("take_along_axis", 0.4),
    SearchSorted("searchsorted", 0.4),
    Cumulative("cumulative_sum", 0.6),
    Cumulative("cumulative_prod", 0.3),
    Unique("unique_all", 0.4, "values", "indices", "inverse_indices", "counts"),
    Unique("unique_counts", 0.2, "values", "counts"),
    Unique("unique_inverse", 0.2, "values", "inverse_indices"),
    Unique("unique_values", 0.2, "values"),
    Frexp("frexp", 0.4),
    Nonzero("nonzero", 0.4),
    Compress("compress", 0.5),
]
