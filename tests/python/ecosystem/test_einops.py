"""einops, by its own functions and by those of einops.array_api, and opt_einsum."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ferrule as fe
import numpy as np
import pytest

einops = pytest.importorskip("einops", reason="einops is not installed")
array_api = pytest.importorskip("einops.array_api", reason="einops is not installed")
opt_einsum = pytest.importorskip("opt_einsum", reason="opt_einsum is not installed")
import ferrule.einops  # noqa: E402 (it needs einops)

A = np.random.default_rng(0).normal(size=(2, 3, 4))
CALLS: dict[str, Callable[..., Any]] = {
    "rearrange": lambda of, x: of.rearrange(x, "a b c -> c (a b)"),
    "rearrange split": lambda of, x: of.rearrange(x, "a (b one) (c d) -> d a b (one c)", one=1, d=2),
    "rearrange list": lambda of, x: of.rearrange([x, x + 1], "n a b c -> a n (b c)"),
    "repeat": lambda of, x: of.repeat(x, "a b c -> a b c d", d=5),
    "repeat elements": lambda of, x: of.repeat(x, "a b c -> (a k) b c", k=3),
    **{
        f"reduce {how}": lambda of, x, how=how: of.reduce(x, "a b c -> b", how)
        for how in ("max", "mean", "min", "prod", "sum")
    },
    "reduce blocks": lambda of, x: of.reduce(x, "a b (c k) -> a b c", "max", k=2),
    "reduce any": lambda of, x: of.reduce(x > 1, "a b c -> b", "any"),
    "reduce all": lambda of, x: of.reduce(x > -1, "a b c -> b ()", "all"),
    "pack": lambda of, x: of.pack([x, x[:, 0]], "a * c")[0],
    "unpack": lambda of, x: tuple(of.unpack(x, [(3,), ()], "a b *")),
}


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("module", ["einops", "einops.array_api"])
def test_einops(name: str, module: str, agree: Callable[..., None]) -> None:
    def call(x: Any) -> Any:
        return CALLS[name](array_api if module != "einops" and isinstance(x, fe.Array) else einops, x)

    agree(call, A)


def test_einsum_with_names_of_axes(agree: Callable[..., None]) -> None:
    agree(lambda x, y: einops.einsum(x, y, "batch row k, batch column k -> batch row column"), A, A[:, ::-1])


def test_parse_shape_and_asnumpy() -> None:
    x = fe.asarray(A, device="cpu")
    assert einops.parse_shape(x, "a _ c") == {"a": 2, "c": 4}
    np.testing.assert_array_equal(einops.asnumpy(x), A)


def test_einops_in_a_traced_function() -> None:
    x = fe.asarray(A, device="cpu")
    result = fe.graph(lambda x: einops.reduce(x, "a b c -> (c a)", "sum"))(x)
    np.testing.assert_allclose(np.asarray(result), einops.reduce(A, "a b c -> (c a)", "sum"))


def test_only_the_import_of_ferrule_einops_registers_arrays(run_python: Callable[..., Any]) -> None:
    code = """
import einops, sys
import ferrule as fe
assert "ferrule.einops" not in sys.modules
try:
    einops.rearrange(fe.ones((2, 3)), "a b -> b a")
except RuntimeError as error:
    assert "Tensor type unknown to einops" in str(error), error
else:
    raise AssertionError("einops knows arrays without ferrule.einops: the module is not needed any more")
import ferrule.einops
print(einops.rearrange(fe.ones((2, 3)), "a b -> b a").shape)
"""
    assert run_python(code).stdout == "(3, 2)\n"


@pytest.mark.parametrize("subscripts", ["abc,abd->cd", "abc,abc->", "abc->ca", "abc,dbc,ad->b"])
def test_opt_einsum(subscripts: str, agree: Callable[..., None]) -> None:
    operands = [A, A, A[:, :2, 0]][: subscripts.count(",") + 1]
    if subscripts == "abc,abd->cd":
        agree(lambda x, y: opt_einsum.contract_expression(subscripts, x.shape, y.shape)(x, y), *operands)
    agree(lambda *x: opt_einsum.contract(subscripts, *x), *operands)
