"""SciPy with SCIPY_ARRAY_API=1: its functions give arrays on the device of their arguments."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.python.each import each

pytest.importorskip("scipy", reason="SciPy is not installed")
from scipy import cluster, fft, integrate, interpolate, ndimage, signal, special, stats
from scipy.optimize import elementwise
from scipy.spatial.transform import Rotation

RANDOM = np.random.default_rng(0)
X, Y = np.sort(RANDOM.random(20)), RANDOM.random(20)
A = RANDOM.normal(size=(8, 8))
S = RANDOM.normal(size=64)
P = np.abs(S) + 0.1
CALLS: dict[str, Any] = {
    "special.gammainc": (special.gammainc, P, P[::-1]),
    "special.logsumexp": (lambda x: special.logsumexp(x, axis=1), A),
    "stats.zscore": (stats.zscore, S),
    "stats.ttest_ind": (lambda x, y: stats.ttest_ind(x, y).pvalue, S, P),
    "signal.convolve": (signal.convolve, S, S[:7]),
    "ndimage.gaussian_filter": (lambda x: ndimage.gaussian_filter(x, 1.0), A),
    "fft.dctn": (fft.dctn, A),
    "cluster.vq": (cluster.vq.vq, A, A[:2]),
    "integrate.cumulative_trapezoid": (integrate.cumulative_trapezoid, S),
    "interpolate.CubicSpline": (lambda x, y: interpolate.CubicSpline(x, y)(x[:2] + 0.1), np.linspace(0, 1, 5), S[:5]),
    # These write through views.
    "signal.oaconvolve": (signal.oaconvolve, S, P[:5]),
    "interpolate.PchipInterpolator": (lambda x, y: interpolate.PchipInterpolator(x, y)(x[:9] + 1e-3), X, Y),
    "interpolate.pchip_interpolate": (lambda x, y: interpolate.pchip_interpolate(x, y, x[:9] + 1e-3), X, Y),
    "integrate.tanhsinh": (
        lambda a, b: integrate.tanhsinh(lambda t: 2.0 ** (-t * t), a, b).integral,
        P[:3],
        P[:3] / 0,
    ),
    "ndimage.vectorized_filter": (lambda x, y: _filtered(x, y), A, A * 0),
    "optimize.find_root": (lambda a, b: elementwise.find_root(lambda t: t**3 - 0.5, (a, b)).x, np.zeros(3), np.ones(3)),
    "spatial.Rotation": (lambda q, v: Rotation.from_rotvec(q).apply(v), A[:3, :3], A[3:6, :3]),
}


def _filtered(x: Any, output: Any) -> Any:
    output = output + 0
    ndimage.vectorized_filter(x, lambda part, axis: part.max(axis=axis), size=3, output=output)
    return output


@each("name", CALLS)
def test_scipy_gives_arrays_with_the_values_of_numpy_arrays(name: str, agree: Callable[..., None]) -> None:
    call, *arguments = CALLS[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        agree(call, *arguments, rtol=1e-6, atol=1e-8)


def test_a_bootstrap_resamples_arrays(agree: Callable[..., None]) -> None:
    def bootstrap(x: Any) -> Any:
        mean = lambda x, axis: x.mean(axis=axis)  # noqa: E731
        return stats.bootstrap((x,), mean, rng=np.random.default_rng(1), n_resamples=99).standard_error

    agree(bootstrap, S, rtol=1e-6)
