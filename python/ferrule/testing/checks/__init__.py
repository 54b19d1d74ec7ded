"""The checks. Each is a file of its name with a function `check(attempt)`, which returns if the check passed and else
raises Failed, NotApplicable or Refused. A check that is not for every case also has `applies(case)`."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from functools import cache
from types import ModuleType

from ferrule.testing.model.case import Case
from ferrule.testing.running.check_attempt import Attempt

Check = Callable[[Attempt], None]


@cache
def _modules() -> dict[str, ModuleType]:
    names = sorted(module.name for module in pkgutil.iter_modules(__path__))
    return {name: importlib.import_module(f"{__name__}.{name}") for name in names}


def all_checks() -> dict[str, Check]:
    return {name: module.check for name, module in _modules().items()}


def applies(check: str, case: Case) -> bool:
    """Whether the check is for this case."""
    found: Callable[[Case], bool] | None = getattr(_modules()[check], "applies", None)
    return found is None or found(case)


def runs_alone(check: str) -> bool:
    """Whether the check must not run beside others: see exclusive_runs.py."""
    return bool(getattr(_modules()[check], "ALONE", False))


def is_by_item_size(check: str) -> bool:
    """Whether the outcome depends on memory layout and element size rather than on the dtype."""
    return bool(getattr(_modules()[check], "BY_ITEM_SIZE", False))


def checks_of(level: str) -> list[str]:
    """The names of the checks of a level."""
    if level == "brief":
        return ["values", "special_cases"]
    return [name for name in all_checks() if name != "benchmark"]
