"""The pytest plug-in of ferrule's conformance kit. It imports nothing of ferrule unless it is used: docs/kit.md."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    import ferrule as fe
    from ferrule.testing.case import Case

_OPTIONS = ("backend", "device", "variant", "level", "seed", "report", "expect", "timeout", "benchmark", "sample")


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("ferrule", "ferrule's conformance kit (pytest --pyargs ferrule.testing)")
    add = group.addoption
    add("--ferrule-backend", action="append", metavar="FILE", help="a module to test; may be given again")
    add("--ferrule-device", action="append", metavar="NAME", help="a device to test, such as cpu or gpu:1")
    add("--ferrule-variant", action="append", metavar="NAME", help="a variant of the CPU module; `all`: each one")
    add("--ferrule-level", choices=["brief", "quick", "full", "edge"], help="how thoroughly (default: quick)")
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
    """The device under test, in this process: the first of --ferrule-backend, --ferrule-device or --ferrule-variant,
    else the best one. Nothing shields the process from it: what may crash belongs into the kit's own checks."""
    import ferrule as fe
    from ferrule.testing.target import open_target

    kit: Any = request.config.pluginmanager.get_plugin("ferrule-kit")
    targets = kit.targets if kit else []
    return open_target(targets[0])[0] if targets else fe.best_device()


@pytest.fixture(scope="session")
def ferrule_case() -> Callable[..., Case]:
    """Finds the kit's case of an op: `ferrule_case("softmax", "float32")`. `case.family.plain` are its problems,
    `case.inputs(problem, rng)` gives inputs, `case.judge(problem, inputs, result)` holds a result against the truth."""
    from ferrule.testing import find_case

    return find_case
