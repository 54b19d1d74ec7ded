"""A conformance kit that any backend can be held against: docs/kit.md.

pytest --pyargs ferrule.testing --ferrule-backend ./libferrule-mine.so
ferrule.testing.check("softmax", device="cpu")
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferrule.testing.case import all_cases
from ferrule.testing.notebook import Results, check

if TYPE_CHECKING:
    from ferrule.testing.case import Case

__all__ = ["Results", "check", "find_case"]


def find_case(op: str, *dtypes: str, variant: str = "") -> Case:
    """The case of an op: of these dtypes of its inputs, where any are given, else of the first that there are."""
    wanted = tuple(dtypes)
    of_op = [case for case in all_cases().values() if case.op == op]
    for case in of_op:
        same = not wanted or case.dtypes[: len(wanted)] == wanted or (len(wanted) == 1 and {*case.dtypes} == {*wanted})
        if same and (not variant or case.variant == variant):
            return case
    known = ", ".join(case.name for case in of_op) or "none"
    raise LookupError(f"there is no case of {op} with {wanted or 'any dtypes'} {variant}; there are: {known}")
