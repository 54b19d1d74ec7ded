"""The conformance kit, which tests a backend against the definitions of its ops: docs/develop/kit.md.

pytest --pyargs ferrule.testing --ferrule-backend ./libferrule-mine.so
ferrule.testing.check("softmax", device="cpu")
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferrule.testing.cases import all_cases
from ferrule.testing.notebook import Results, check

if TYPE_CHECKING:
    from ferrule.testing.model.case import Case

__all__ = ["Results", "check", "find_case"]


def find_case(op: str, *dtypes: str, variant: str = "") -> Case:
    """Find the kit's case of an op.

    Parameters
    ----------
    op : str
        The op's name.
    *dtypes : str
        The dtypes of the first inputs. A single dtype also matches a case whose inputs all have it. Without dtypes the
        first case of the op is returned.
    variant : str
        The variant of the case, such as "tanh" of gelu. By default any.

    Returns
    -------
    Case
        The first case that matches.

    Raises
    ------
    LookupError
        No case matches.

    Examples
    --------
    >>> import ferrule as fe
    >>> case = fe.testing.find_case("gelu", "float32", variant="tanh")
    >>> case.name, case.dtypes, case.result
    ('gelu-float32-tanh', ('float32',), 'float32')
    """
    wanted = tuple(dtypes)
    of_op = [case for case in all_cases().values() if case.op == op]
    for case in of_op:
        same = not wanted or case.dtypes[: len(wanted)] == wanted or (len(wanted) == 1 and {*case.dtypes} == {*wanted})
        if same and (not variant or case.variant == variant):
            return case
    known = ", ".join(case.name for case in of_op) or "none"
    raise LookupError(f"there is no case of {op} with {wanted or 'any dtypes'} {variant}; there are: {known}")
