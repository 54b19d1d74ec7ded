"""Linear algebra: decompositions, equations, norms and products of matrices, the last two axes of arrays.

The names and signatures are those of the Python array API standard. Integers are converted to the default dtype where
the result is not an integer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Never

from ferrule import _ferrule
from ferrule.functions.linear_algebra import matmul, tensordot, vecdot
from ferrule.functions.movement import matrix_transpose
from ferrule.linalg.decompositions import (
    EighResult,
    QRResult,
    SVDResult,
    cholesky,
    eigh,
    eigvalsh,
    qr,
    svd,
    svdvals,
)
from ferrule.linalg.diagonals import diagonal, trace
from ferrule.linalg.equations import SlogdetResult, det, inv, matrix_power, matrix_rank, pinv, slogdet, solve
from ferrule.linalg.norms import matrix_norm, vector_norm
from ferrule.linalg.products import cross, outer
from ferrule.text import other_names

__all__ = [
    "EighResult",
    "QRResult",
    "SVDResult",
    "SlogdetResult",
    "cholesky",
    "cross",
    "det",
    "diagonal",
    "eigh",
    "eigvalsh",
    "inv",
    "matmul",
    "matrix_norm",
    "matrix_power",
    "matrix_rank",
    "matrix_transpose",
    "outer",
    "pinv",
    "qr",
    "slogdet",
    "solve",
    "svd",
    "svdvals",
    "tensordot",
    "trace",
    "vecdot",
    "vector_norm",
]

for _name in __all__:
    globals()[_name] = _ferrule.public(globals()[_name], __name__)


if not TYPE_CHECKING:  # a type checker would accept any name

    def __getattr__(name: str) -> Never:
        raise other_names.missing_name("linalg", name, __all__)


def __dir__() -> list[str]:
    return sorted(__all__)  # without the modules that the imports set here
