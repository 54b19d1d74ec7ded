"""The pytest plug-in of ferrule's conformance kit (docs/develop/kit.md). It imports ferrule only when it is used."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    import ferrule as fe
    from ferrule.testing.model.case import Case

_OPTIONS = ("backend", "device", "variant", "level", "op", "seed", "report", "expect", "timeout", "benchmark", "sample")


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("ferrule", "ferrule's conformance kit (pytest --pyargs ferrule.testing)")
    add = group.addoption
    add("--ferrule-backend", action="append", metavar="FILE", help="a module to test; may be given again")
    add("--ferrule-device", action="append", metavar="NAME", help="a device to test, such as cpu or gpu:1")
    add("--ferrule-variant", action="append", metavar="NAME", help="a variant of the CPU module; `all`: each one")
    add("--ferrule-level", choices=["brief", "quick", "full", "edge"], help="how thoroughly (default: quick)")
    add("--ferrule-op", action="append", metavar="NAME", help="an op to test (default: all); may be given again")
    add("--ferrule-seed", metavar="N", help="of the values and shapes: a number, or `random` (default: 0)")
    add("--ferrule-report", action="append", metavar="FILE", help="write the support matrix: .html, .json or .txt")
    add(
        "--ferrule-expect",
        action="append",
        metavar="FILE",
        help="failures that are known: a pattern and a reason a line",
    )
    add("--ferrule-timeout", type=float, metavar="S", help="seconds without an answer that are a hang (default: 60)")
    add(
        "--ferrule-sample",
        action="store_true",
        default=None,
        help="the checks of how elements lie in memory for one case of each op and size of elements",
    )
    add("--ferrule-benchmark", action="store_true", default=None, help="time each op beside NumPy, too")


def pytest_configure(config: pytest.Config) -> None:
    asked = any(config.getoption(f"ferrule_{name}", None) for name in _OPTIONS)
    if asked or any("ferrule.testing" in str(argument) for argument in config.invocation_params.args):
        try:
            from ferrule.testing.plugin import Kit
        except ModuleNotFoundError as error:
            raise pytest.UsageError(f"ferrule's kit needs {error.name}: pip install 'ferrule[testing]'") from error

        config.pluginmanager.register(Kit(config), "ferrule-kit")


@pytest.fixture(scope="session")
def ferrule_device(request: pytest.FixtureRequest) -> fe.Device:
    """The device under test, opened in the process of the tests.

    A crash of its module ends the process. The kit's own checks run modules in a child process.

    Returns
    -------
    ferrule.Device
        The first device of --ferrule-backend, --ferrule-device or --ferrule-variant, or the best device if none of
        these options is given.
    """
    import ferrule as fe
    from ferrule.testing.running.target import open_target

    kit: Any = request.config.pluginmanager.get_plugin("ferrule-kit")
    targets = kit.targets if kit else []
    return open_target(targets[0])[0] if targets else fe.best_device()


@pytest.fixture(scope="session")
def ferrule_case() -> Callable[..., Case]:
    """A function that finds the kit's case of an op: `ferrule_case("softmax", "float32")`.

    The problems of a case are `case.family.plain`. `case.inputs(problem, rng)` draws inputs, and
    `case.judge(problem, inputs, result)` compares a result with the truth.

    Returns
    -------
    callable
        `ferrule.testing.find_case`.
    """
    from ferrule.testing import find_case

    return find_case
