"""Random bits from a key."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ferrule.testing.programs.model.inputs import Given
from ferrule.testing.programs.model.operation import Drawn, Operation, Reference, by_case
from ferrule.testing.programs.model.scope import Scope


class RandomBits(Operation):
    def draw(self, scope: Scope) -> Drawn | None:
        key = scope.pick(lambda x: x.dtype == np.uint32 and x.shape == (2,)) or scope.add_input("uint32", (2,))
        return None if key is None else self.drawn(key, size=scope.between(0, 40))

    def text(self, operands: Sequence[str], attributes: Mapping[str, Any]) -> str:
        return f"fe.random.bits({operands[0]}, {attributes['size']})"

    def reference(self, given: Given, attributes: Mapping[str, Any]) -> Reference:
        return by_case("random_bits", given, attributes)


OPERATIONS: list[Operation] = [RandomBits("random_bits", 0.3)]
