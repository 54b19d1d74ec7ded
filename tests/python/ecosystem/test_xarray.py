"""xarray.DataArray and Dataset that hold arrays."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import ferrule as fe
import numpy as np
import pytest

from tests.python.each import each

xr = pytest.importorskip("xarray", reason="xarray is not installed")

RANDOM = np.random.default_rng(0)
A = RANDOM.normal(size=(4, 6))
B = RANDOM.normal(size=(4, 6))
GAPS = np.where(A > 1, np.nan, A)
COORDINATES = {"x": [10, 20, 30, 40], "y": list("abcdef"), "group": ("x", ["u", "v", "u", "v"])}


def labelled(values: Any) -> Any:
    return xr.DataArray(values, dims=("x", "y"), coords=COORDINATES)


CALLS: dict[str, Callable[..., Any]] = {
    "power": lambda x, y: abs(x) ** 2,
    "broadcast": lambda x, y: x * y.isel(x=0),
    "align": lambda x, y: x + y.isel(x=slice(1, 3)),
    "apply_ufunc": lambda x, y: xr.apply_ufunc(lambda values: values * 2, x),
    "quantile": lambda x, y: x.quantile(0.3, dim="y"),
    "isel slices and lists": lambda x, y: x.isel(x=slice(1, 3), y=[0, 2]),
    "sel": lambda x, y: x.sel(y=["b", "c"]),
    "where": lambda x, y: x.where(x > 0),
    "fillna": lambda x, y: x.fillna(1.0),
    "groupby mean": lambda x, y: x.groupby("group").mean(),
    "concat": lambda x, y: xr.concat([x, y], dim="x"),
    "dot": lambda x, y: xr.dot(x, y, dim="y"),
    "pad": lambda x, y: x.pad(x=1),
    "weighted mean": lambda x, y: x.weighted(abs(y)).mean("y"),
    "idxmax of numeric labels": lambda x, y: x.idxmax("x"),
    "rolling mean": lambda x, y: x.rolling(x=2, center=True).mean(),
    "rolling of two axes": lambda x, y: x.rolling(x=2, y=3, min_periods=1).max(),
    "rolling construct": lambda x, y: x.rolling(y=3).construct("window", fill_value=0.0),
    "cumulative": lambda x, y: x.cumulative("x").sum(),
    "Dataset sum": lambda x, y: xr.Dataset({"p": x, "q": y}).sum(dim="x"),
}


@each("name", CALLS)
@each("given", [A, GAPS])
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


def test_polyfit_gives_the_coefficients_of_numpy_arrays() -> None:
    for given in (A, GAPS):
        wanted = labelled(given).polyfit("x", 2).polyfit_coefficients
        got = labelled(fe.asarray(given, device="cpu")).polyfit("x", 2).polyfit_coefficients
        np.testing.assert_allclose(got.values, wanted.values)


def test_a_covariance_has_all_digits_with_the_default_dtype_float64() -> None:
    wanted = xr.cov(labelled(A), labelled(B)).item()
    fe.set_default_dtype("float64")
    try:
        got = xr.cov(labelled(fe.asarray(A, device="cpu")), labelled(fe.asarray(B, device="cpu"))).item()
    finally:
        fe.set_default_dtype(None)
    assert got == pytest.approx(wanted, rel=1e-14)


def test_pointwise_selection_is_refused() -> None:
    places = xr.DataArray([0, 1], dims="point")
    with pytest.raises(TypeError, match="Vectorized indexing is not supported"):
        labelled(fe.asarray(A, device="cpu")).isel(x=places, y=places)


def test_repr_shows_the_values() -> None:
    x = labelled(fe.asarray(np.full((4, 6), 1.5), device="cpu"))
    assert "1.5, 1.5" in repr(x)
    assert "1.5" in x._repr_html_()
