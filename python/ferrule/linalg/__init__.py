"""Linear algebra: decompositions, equations, norms and products of matrices, the last two axes of arrays.

The names and signatures are those of the Python array API standard. Integers are converted to the default dtype where
the result is not an integer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Never

from ferrule import _ferrule
from ferrule.functions.linear_algebra import matmul, tensordot, vecdot
from ferrule.functions.movement import matrix_transpose
from ferrule.linalg import decompositions, diagonals, equations, norms, products
from ferrule.linalg.decompositions import *
from ferrule.linalg.diagonals import *
from ferrule.linalg.equations import *
from ferrule.linalg.norms import *
from ferrule.linalg.products import *
from ferrule.text import other_names

__all__ = ["matmul", "matrix_transpose", "tensordot", "vecdot"]
_SHARED = set(__all__)  # with `ferrule`
__all__ += decompositions.__all__
__all__ += diagonals.__all__
__all__ += equations.__all__
__all__ += norms.__all__
__all__ += products.__all__

for _name in __all__:
    globals()[_name] = _ferrule.public(globals()[_name], "ferrule" if _name in _SHARED else __name__)


if not TYPE_CHECKING:  # a type checker would accept any name

    def __getattr__(name: str) -> Never:
        raise other_names.missing_name("linalg", name, __all__)


def __dir__() -> list[str]:
    return sorted(__all__)  # without the modules that the imports set here
