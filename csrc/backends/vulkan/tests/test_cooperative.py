"""Products with cooperative matrices, simulated because no device of these tests supports them."""

from __future__ import annotations

import pytest

from csrc.backends.vulkan.tests.processes import Processes

SETTING = "FERRULE_VULKAN_COOPERATIVE_MATRICES"

PROGRAM = """
random = np.random.default_rng(3)
def check(a, b, *, plus=0):
    x, y = (fe.asarray(of, device="vulkan") for of in (a, b))
    got = np.asarray(fe.matmul(x, y) + plus).astype(np.float64)
    a, b = a.astype(np.float64), b.astype(np.float64)
    product = a @ b
    # float32's sums, rounded to float16, and rounded once more when something was added.
    bound = np.abs(a) @ np.abs(b) * a.shape[-1] * 2.0**-23 + (np.abs(product) + np.abs(product + plus)) * 2.0**-11
    assert (np.abs(got - product - plus) <= bound + 2.0**-24).all(), (a.shape, b.shape)
def array(*shape):
    return random.uniform(-1, 1, shape).astype(np.float16)
for m, k, n in ((1, 1, 1), (16, 16, 16), (5, 40, 70), (64, 64, 64), (65, 513, 67), (3, 1100, 130), (200, 30, 9)):
    check(array(m, k), array(k, n))
    check(array(k, m).T, array(n, k).T, plus=1)
    check(array(2, m, k), array(k, n))
graph = fe.Graph(device="vulkan")
graph.output(fe.matmul(graph.input((3, 40), "float16"), graph.input((40, 5), "float16")))
print(*(row["kernel"] for row in graph.compile().placement()["nodes"]))
"""

TRIED = """
try:
    print(np.asarray(fe.ones((2, 2), device="vulkan")))
except fe.Error as error:
    print(error)
"""


def test_products_are_right_and_say_how_they_are_made(start: Processes) -> None:
    assert start.quiet(PROGRAM, **{SETTING: "simulated"}) == "matmul_cooperative.subgroup_simulated_f16\n"


@pytest.mark.parametrize(
    ("value", "sentence"), [("yes", "has none of 16 by 16"), ("perhaps", "must be no, yes or simulated")]
)
def test_unavailable_or_invalid_setting_is_an_error(start: Processes, value: str, sentence: str) -> None:
    printed = start(TRIED, **{SETTING: value}).output
    # The compiler that built this module may not support them.
    assert sentence in printed or (value == "yes" and "GLSL compiler without them" in printed)
    assert f"'{value}'" in printed
