"""xarray.DataArray and Dataset that hold arrays."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import ferrule as fe
import numpy as np
import pytest

xr = pytest.importorskip("xarray", reason="xarray is not installed")

RANDOM = np.random.default_rng(0)
A = RANDOM.normal(size=(4, 6))
B = RANDOM.normal(size=(4, 6))
GAPS = np.where(A > 1, np.nan, A)
COORDINATES = {"x": [10, 20, 30, 40], "y": list("abcdef"), "group": ("x", ["u", "v", "u", "v"])}


def labelled(values: Any) -> Any:
    return xr.DataArray(values, dims=("x", "y"), coords=COORDINATES)


REDUCTIONS = [
    "all",
    "any",
    "argmax",
    "argmin",
    "count",
    "cumprod",
    "cumsum",
    "max",
    "mean",
    "median",
    "min",
    "prod",
    "std",
    "sum",
    "var",
]
CALLS: dict[str, Callable[..., Any]] = {
    "add": lambda x, y: x + y,
    "arithmetic with numbers": lambda x, y: 2 * x - 1,
    "negative": lambda x, y: -x,
    "power": lambda x, y: abs(x) ** 2,
    "compare": lambda x, y: x > y,
    "broadcast": lambda x, y: x * y.isel(x=0),
    "align": lambda x, y: x + y.isel(x=slice(1, 3)),
    "numpy.sin": lambda x, y: np.sin(x),
    "apply_ufunc": lambda x, y: xr.apply_ufunc(lambda values: values * 2, x),
    **{name: lambda x, y, name=name: getattr(x, name)(dim="y") for name in REDUCTIONS},
    **{f"{name} of all": lambda x, y, name=name: getattr(x, name)() for name in ("max", "mean", "sum")},
    "sum without skipna": lambda x, y: x.sum(skipna=False),
    "quantile": lambda x, y: x.quantile(0.3, dim="y"),
    "quantile along the first axis": lambda x, y: x.quantile(0.3, "x"),
    "quantiles along the first axis": lambda x, y: x.quantile([0.1, 0.5], dim="x"),
    "isin": lambda x, y: x.isin([0.5, 2.0]),
    "differentiate": lambda x, y: x.differentiate("x"),
    "isel": lambda x, y: x.isel(x=1),
    "isel slices and lists": lambda x, y: x.isel(x=slice(1, 3), y=[0, 2]),
    "sel": lambda x, y: x.sel(y=["b", "c"]),
    "where": lambda x, y: x.where(x > 0),
    "where other": lambda x, y: xr.where(x > 0, x, y),
    "fillna": lambda x, y: x.fillna(1.0),
    "isnull": lambda x, y: x.isnull(),
    "dropna": lambda x, y: x.dropna("x"),
    "clip": lambda x, y: x.clip(0, 1),
    "round": lambda x, y: x.round(1),
    "astype": lambda x, y: x.astype("float32"),
    "groupby sum": lambda x, y: x.groupby("group").sum(),
    "groupby mean": lambda x, y: x.groupby("group").mean(),
    "groupby map": lambda x, y: x.groupby("group").map(lambda part: part - part.mean()),
    "groupby difference": lambda x, y: x.groupby("group") - x.groupby("group").mean(),
    "transpose": lambda x, y: x.transpose("y", "x"),
    "stack and unstack": lambda x, y: x.stack(z=("x", "y")).unstack(),
    "concat": lambda x, y: xr.concat([x, y], dim="x"),
    "expand_dims": lambda x, y: x.expand_dims("time"),
    "dot": lambda x, y: xr.dot(x, y, dim="y"),
    "dot along the first axis": lambda x, y: xr.dot(x, y, dim="x"),
    "dot of all": lambda x, y: xr.dot(x, y),
    "roll": lambda x, y: x.roll(x=1),
    "shift": lambda x, y: x.shift(x=1),
    "pad": lambda x, y: x.pad(x=1),
    "pad edge": lambda x, y: x.pad(x=(1, 2), mode="edge"),
    "diff": lambda x, y: x.diff("x"),
    "weighted mean": lambda x, y: x.weighted(abs(y)).mean("y"),
    "cov": lambda x, y: xr.cov(x, y, dim="y"),
    "corr": lambda x, y: xr.corr(x, y, dim="y"),
    "sortby": lambda x, y: x.sortby("y", ascending=False),
    "reindex": lambda x, y: x.reindex(x=[10, 35]),
    "integrate": lambda x, y: x.integrate("x"),
    "copy": lambda x, y: x.copy(deep=True),
    "Dataset sum": lambda x, y: xr.Dataset({"p": x, "q": y}).sum(dim="x"),
    "Dataset arithmetic": lambda x, y: xr.Dataset({"p": x, "q": y}) * 2 + 1,
    "Dataset isel": lambda x, y: xr.Dataset({"p": x, "q": y}).isel(x=0).mean(),
}


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("given", [A, GAPS], ids=["values", "gaps"])
def test_xarray_gives_arrays_with_the_values_of_numpy_arrays(name: str, given: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        wanted = CALLS[name](labelled(given), labelled(B))
        got = CALLS[name](labelled(fe.asarray(given, device="cpu")), labelled(fe.asarray(B, device="cpu")))
    pairs = [(got, wanted)] if isinstance(got, xr.DataArray) else [(got[key], wanted[key]) for key in wanted.data_vars]
    for one, other in pairs:
        assert type(one.data) is fe.Array
        assert one.data.device == fe.device("cpu")
        assert one.dtype == other.dtype
        xr.testing.assert_allclose(one.as_numpy(), other)


def test_assignment_changes_the_values_of_one_object() -> None:
    x = labelled(fe.asarray(A, device="cpu"))
    y = x.copy(deep=True)
    y[1] = 7.0
    y.loc[{"y": "c"}] = 8.0
    assert type(y.data) is fe.Array
    wanted = labelled(A.copy())
    wanted[1] = 7.0
    wanted.loc[{"y": "c"}] = 8.0
    np.testing.assert_array_equal(y.values, wanted.values)
    np.testing.assert_array_equal(x.values, A)


def test_repr_shows_the_values() -> None:
    x = labelled(fe.asarray(np.full((4, 6), 1.5), device="cpu"))
    assert "1.5, 1.5" in repr(x)
    assert "1.5" in x._repr_html_()


# docs/use/ecosystem.md names these limits. A test that fails here says that xarray has lifted one.
@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda x: x.isel(x=xr.DataArray([0, 1], dims="p"), y=xr.DataArray([1, 2], dims="p")), "Vectorized indexing"),
        (lambda x: x.rolling(x=2).mean(), "lib"),
    ],
    ids=["vectorised isel", "rolling"],
)
def test_limits(call: Callable[[Any], Any], message: str) -> None:
    with pytest.raises((TypeError, AttributeError), match=message):
        call(labelled(fe.asarray(A, device="cpu")))
