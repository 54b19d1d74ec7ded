"""The shapes, sizes and values that the kit's checks choose."""

from __future__ import annotations

import numpy as np
import pytest
from ferrule.testing.cases import all_cases
from ferrule.testing.checks.fused import wider_than
from ferrule.testing.checks.ranges import FILLS, applies, equal
from ferrule.testing.model.dtypes import is_floating
from ferrule.testing.model.sizes import above_blocks, around_blocks
from ferrule.testing.problems import RANK_8


def test_broadcast_adds_an_axis_and_expands_axes_of_one_element() -> None:
    assert wider_than((5, 7)) == [(2, 5, 7)]
    assert wider_than((4, 1, 1)) == [(2, 4, 1, 1), (4, 3, 1)]
    assert wider_than(()) == [(2,)]
    for shape in ((5, 7), (4, 1, 1), (), RANK_8):
        for wider in wider_than(shape):
            assert len(wider) <= 8
            assert wider != shape
            assert np.broadcast_shapes(shape, wider) == wider


def test_sizes_surround_each_power_of_two_up_to_16_bits() -> None:
    wanted = {2**power + by for power in range(9, 17) for by in (-1, 0, 1)}
    assert wanted <= set(around_blocks())
    assert {2**power + 1 for power in range(9, 17)} <= set(above_blocks())


@pytest.mark.parametrize("name", [name for name, case in all_cases().items() if applies(case)])
def test_range_values_do_not_change_masks_and_indices(name: str) -> None:
    case = all_cases()[name]
    for problem in case.family.plain:
        inputs = case.inputs(problem, np.random.default_rng(1), equal)
        assert [x.shape for x in inputs] == list(problem.shapes)
        for number, x in enumerate(inputs):
            assert x.dtype.name == case.dtype(number)
        if case.op == "take":
            size = problem.shapes[0][problem.attributes["axis"]]
            assert ((inputs[1] >= -size) & (inputs[1] < size)).all()
        if case.variant == "adds":
            assert np.unique(inputs[3]).size <= 2  # one number, and minus infinity
        if (
            is_floating(case.dtype(0))
            and case.variant != "masked"
            and case.op not in ("max", "min", "argmax", "argmin", "nonzero", "topk")
        ):
            assert np.unique(inputs[0]).size <= 1


def test_ranges_omitted_by_a_case_exist_and_have_a_reason() -> None:
    cases = [case for case in all_cases().values() if case.left_out]
    assert {case.op for case in cases} == {"astype", "cumulative_prod", "prod", "scaled_dot_product_attention"}
    for case in cases:
        assert set(case.left_out) < set(FILLS)
        assert all(len(reason) > 20 for reason in case.left_out.values())
