"""The names that tests of backends import. The kit itself imports them from `model`."""

from ferrule.testing.model.case import Case
from ferrule.testing.model.problem import Problem

__all__ = ["Case", "Problem"]
