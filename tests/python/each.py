"""`each`, for tests of many cases that take less than a millisecond each: pytest itself needs longer for an item."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable
from typing import Any

Test = Callable[..., None]


def each(names: str | tuple[str, ...], cases: Iterable[Any]) -> Callable[[Test], Test]:
    """Run a test with each of the cases, as `pytest.mark.parametrize` does, within one item.

    A failure stops the test, and its message ends with the case. Fixtures are shared by the cases.
    """
    words = [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)
    listed = [case if len(words) > 1 else (case,) for case in cases]

    def looped(test: Test) -> Test:
        @functools.wraps(test)
        def run(*args: Any, **fixtures: Any) -> None:
            for case in listed:
                given = dict(zip(words, case, strict=True))
                try:
                    test(*args, **fixtures, **given)
                except Exception as error:
                    error.add_note(f"with {', '.join(f'{name} = {value!r}' for name, value in given.items())}")
                    raise

        signature = inspect.signature(test)
        left = [parameter for name, parameter in signature.parameters.items() if name not in words]
        run.__signature__ = signature.replace(parameters=left)  # type: ignore[attr-defined]
        return run

    return looped
