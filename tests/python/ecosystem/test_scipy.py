"""SciPy with SCIPY_ARRAY_API=1: its functions give arrays on the device of their arguments."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import ferrule as fe
import numpy as np
import pytest

pytest.importorskip("scipy", reason="SciPy is not installed")
from scipy import cluster, differentiate, fft, integrate, interpolate, ndimage, signal, sparse, special, stats
from scipy.optimize import elementwise
from scipy.spatial.transform import Rotation

RANDOM = np.random.default_rng(0)
A = RANDOM.normal(size=(8, 8))
P = RANDOM.uniform(0.1, 0.9, size=(8, 6))
SMALL = RANDOM.normal(size=(3, 3))
S = RANDOM.normal(size=64)
H = RANDOM.normal(size=7)
X = np.abs(RANDOM.normal(size=40)) + 0.1
Y = np.abs(RANDOM.normal(size=40)) + 0.2
LABELS = (A > 0) + 1
Case = tuple[Callable[..., Any], *tuple[Any, ...]]


def test_of(function: Callable[..., Any]) -> Callable[..., Any]:
    """The statistic and the p-value of a test as a tuple."""
    return lambda *arrays: (lambda result: (result.statistic, result.pvalue))(function(*arrays))


test_of.__test__ = False  # type: ignore[attr-defined]

SPECIAL: dict[str, Case] = {
    **{
        name: (getattr(special, name), P)
        for name in [
            "cbrt",
            "digamma",
            "ellipk",
            "entr",
            "erf",
            "erfc",
            "exp10",
            "expit",
            "exprel",
            "gamma",
            "gammaln",
            "i0",
            "i0e",
            "i1",
            "i1e",
            "log_ndtr",
            "logit",
            "ndtr",
            "ndtri",
            "psi",
            "rgamma",
            "sinc",
        ]
    },
    **{
        name: (getattr(special, name), P, P[::-1])
        for name in [
            "betaln",
            "binom",
            "boxcox",
            "chdtr",
            "chdtrc",
            "gammainc",
            "gammaincc",
            "huber",
            "kl_div",
            "pseudo_huber",
            "rel_entr",
            "stdtrit",
            "xlog1py",
            "xlogy",
        ]
    },
    "betainc": (special.betainc, P, P[::-1], P[:, ::-1]),
    "log_softmax": (lambda x: special.log_softmax(x, axis=1), A),
    "logsumexp": (lambda x: special.logsumexp(x, axis=1), A),
    "multigammaln": (lambda x: special.multigammaln(x, 2), P + 3),
    "softmax": (lambda x: special.softmax(x, axis=0), A),
}
STATS: dict[str, Case] = {
    **{
        name: (getattr(stats, name), X)
        for name in [
            "circmean",
            "circstd",
            "circvar",
            "differential_entropy",
            "entropy",
            "gmean",
            "gstd",
            "gzscore",
            "hmean",
            "iqr",
            "kstatvar",
            "kurtosis",
            "lmoment",
            "median_abs_deviation",
            "moment",
            "sem",
            "sigmaclip",
            "skew",
            "tmax",
            "tmean",
            "tmin",
            "tsem",
            "tstd",
            "tvar",
            "variation",
            "zscore",
        ]
    },
    "quantile": (lambda x: stats.quantile(x, 0.3), X),
    "trim_mean": (lambda x: stats.trim_mean(x, 0.1), X),
    "pmean": (lambda x: stats.pmean(x, 2), X),
    "zmap": (stats.zmap, X, Y),
    "boxcox_llf": (lambda x: stats.boxcox_llf(1.0, x), X),
    "mode": (lambda x: tuple(stats.mode(x)), np.round(X)),
    "false_discovery_control": (stats.false_discovery_control, P[0]),
    "directional_stats": (lambda x: stats.directional_stats(x).mean_direction, A),
    **{name: (test_of(getattr(stats, name)), X) for name in ["jarque_bera", "kurtosistest", "normaltest", "skewtest"]},
    **{
        name: (test_of(getattr(stats, name)), X, Y)
        for name in [
            "alexandergovern",
            "ansari",
            "bartlett",
            "chatterjeexi",
            "cramervonmises_2samp",
            "f_oneway",
            "fligner",
            "kruskal",
            "levene",
            "mannwhitneyu",
            "mood",
            "pearsonr",
            "pointbiserialr",
            "ttest_ind",
            "ttest_rel",
            "wilcoxon",
        ]
    },
    "chisquare": (test_of(lambda x, y: stats.chisquare(x, y)), X, Y * X.sum() / Y.sum()),
    "combine_pvalues": (test_of(stats.combine_pvalues), P[0]),
    "ttest_1samp": (test_of(lambda x: stats.ttest_1samp(x, 0.5)), X),
}
SIGNAL: dict[str, Case] = {
    "convolve": (signal.convolve, S, H),
    "convolve2d": (signal.convolve2d, A, SMALL),
    "correlate": (signal.correlate, S, H),
    "correlate2d": (signal.correlate2d, A, SMALL),
    "cspline1d": (signal.cspline1d, S),
    "deconvolve": (signal.deconvolve, S, H),
    "detrend": (signal.detrend, S),
    "detrend constant": (lambda x: signal.detrend(x, type="constant"), S),
    "envelope": (signal.envelope, S),
    "fftconvolve": (signal.fftconvolve, S, H),
    "filtfilt": (signal.filtfilt, H, np.array([1.0]), S),
    "freqz": (signal.freqz, H),
    "hann": (lambda x: x * signal.windows.hann(64, xp=x.__array_namespace__(), device=x.device), S),
    "hilbert": (signal.hilbert, S),
    "lfilter": (signal.lfilter, H, np.array([1.0]), S),
    "medfilt": (lambda x: signal.medfilt(x, 3), S),
    "order_filter": (lambda x, domain: signal.order_filter(x, domain, 1), A, np.ones((3, 3))),
    "resample": (lambda x: signal.resample(x, 32), S),
    "resample_poly": (lambda x: signal.resample_poly(x, 3, 2), S),
    "savgol_filter": (lambda x: signal.savgol_filter(x, 7, 2), S),
    "upfirdn": (lambda h, x: signal.upfirdn(h, x, 2, 1), H, S),
    "wiener": (lambda x: signal.wiener(x, 3), S),
    "zpk2tf": (lambda z, p: signal.zpk2tf(z, p, 1.0), H[:2], H[3:6]),
}
NDIMAGE: dict[str, Case] = {
    **{
        name: (getattr(ndimage, name), A)
        for name in [
            "binary_dilation",
            "binary_erosion",
            "binary_fill_holes",
            "distance_transform_edt",
            "laplace",
            "maximum",
            "mean",
            "median",
            "prewitt",
            "sobel",
            "spline_filter",
            "sum_labels",
            "variance",
        ]
    },
    "affine_transform": (ndimage.affine_transform, A, np.eye(2) * 1.1),
    "convolve": (ndimage.convolve, A, SMALL),
    "correlate": (ndimage.correlate, A, SMALL),
    "fourier_gaussian": (lambda x: ndimage.fourier_gaussian(x, sigma=1.0), A),
    "gaussian_filter": (lambda x: ndimage.gaussian_filter(x, sigma=1.0), A),
    "gaussian_laplace": (lambda x: ndimage.gaussian_laplace(x, sigma=1.0), A),
    "generic_filter": (lambda x: ndimage.generic_filter(x, np.mean, size=3), A),
    "grey_erosion": (lambda x: ndimage.grey_erosion(x, size=3), A),
    "histogram": (lambda x: ndimage.histogram(x, -1, 1, 4), A),
    "label": (lambda x: ndimage.label(x)[0], A > 0),
    "map_coordinates": (ndimage.map_coordinates, A, P[:2] * 7),
    "maximum_filter": (lambda x: ndimage.maximum_filter(x, size=3), A),
    "median_filter": (lambda x: ndimage.median_filter(x, size=3), A),
    "rotate": (lambda x: ndimage.rotate(x, 30.0), A),
    "shift": (lambda x: ndimage.shift(x, 1.5), A),
    "sum of labels": (ndimage.sum_labels, A, LABELS, np.array([1, 2])),
    "uniform_filter": (lambda x: ndimage.uniform_filter(x, size=3), A),
    "white_tophat": (lambda x: ndimage.white_tophat(x, size=3), A),
    "zoom": (lambda x: ndimage.zoom(x, 2), A),
}
FFT: dict[str, Case] = {
    **{
        name: (getattr(fft, name), A + 1j * A[::-1])
        for name in ["fft", "fft2", "fftn", "hfft", "ifft", "ifftn", "irfft", "irfftn"]
    },
    **{
        name: (getattr(fft, name), A)
        for name in ["dct", "dctn", "dst", "fftshift", "idct", "ifftshift", "ihfft", "rfft", "rfft2", "rfftn"]
    },
    "fht": (lambda x: fft.fht(x, 0.1, 0.0), S),
    "fftfreq": (lambda x: x * fft.fftfreq(64, xp=x.__array_namespace__()), S),
}
OTHERS: dict[str, Case] = {
    "cluster.vq": (cluster.vq.vq, A, A[:2]),
    "cluster.whiten": (cluster.vq.whiten, A),
    "cluster.kmeans": (lambda x: cluster.vq.kmeans(x, 2, rng=1)[0], A),
    "differentiate.derivative": (lambda x: differentiate.derivative(lambda t: t**3, x).df, S),
    "differentiate.jacobian": (lambda x: differentiate.jacobian(lambda t: t**3, x).df, S[:3]),
    "integrate.cubature": (lambda a, b: integrate.cubature(lambda t: t[:, 0] ** 2, a, b).estimate, np.zeros(1), H[:1]),
    "integrate.cumulative_trapezoid": (integrate.cumulative_trapezoid, S),
    "integrate.tanhsinh": (lambda a, b: integrate.tanhsinh(lambda t: t * t, a, b).integral, S[:3], S[3:6]),
    "integrate.trapezoid": (integrate.trapezoid, S),
    "interpolate.CubicSpline": (lambda x, y: interpolate.CubicSpline(x, y)(x[:2] + 0.1), np.linspace(0, 1, 5), S[:5]),
    "interpolate.PchipInterpolator": (
        lambda x, y: interpolate.PchipInterpolator(x, y)(x[:2] + 0.1),
        np.linspace(0, 1, 5),
        S[:5],
    ),
    "interpolate.RegularGridInterpolator": (
        lambda x, values, at: interpolate.RegularGridInterpolator((x, x), values)(at),
        np.linspace(0, 1, 8),
        A,
        np.full((2, 2), 0.3),
    ),
    "interpolate.make_interp_spline": (
        lambda x, y: interpolate.make_interp_spline(x, y)(x[:2] + 0.1),
        np.linspace(0, 1, 5),
        S[:5],
    ),
    "optimize.elementwise.find_minimum": (
        lambda a, b, c: elementwise.find_minimum(lambda t: (t - 0.3) ** 2, (a, b, c)).x,
        np.full(3, -1.0),
        np.zeros(3),
        np.ones(3),
    ),
    "optimize.elementwise.find_root": (
        lambda a, b: elementwise.find_root(lambda t: t**3 - 0.5, (a, b)).x,
        np.zeros(3),
        np.ones(3),
    ),
    "spatial.Rotation.apply": (lambda q, v: Rotation.from_rotvec(q).apply(v), SMALL, SMALL),
    "spatial.Rotation.as_matrix": (lambda q: Rotation.from_quat(q).as_matrix(), A[:, :4]),
}
FAMILIES = {
    "special": SPECIAL,
    "stats": STATS,
    "signal": SIGNAL,
    "ndimage": NDIMAGE,
    "fft": FFT,
    "others": OTHERS,
}


@pytest.mark.parametrize(("family", "name"), [(family, name) for family in FAMILIES for name in FAMILIES[family]])
def test_scipy_gives_arrays_with_the_values_of_numpy_arrays(family: str, name: str, agree: Callable[..., None]) -> None:
    call, *arguments = FAMILIES[family][name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        agree(call, *arguments, rtol=1e-6, atol=1e-8)


def test_ranks_have_the_default_dtype(agree: Callable[..., None]) -> None:
    agree(stats.rankdata, X, dtype=np.float32)


def test_monte_carlo_methods(agree: Callable[..., None]) -> None:
    def mean(x: Any, axis: int) -> Any:
        return x.mean(axis=axis)

    def bootstrap(x: Any) -> Any:
        return stats.bootstrap((x,), mean, rng=np.random.default_rng(1), n_resamples=99).standard_error

    def permutation(x: Any, y: Any) -> Any:
        difference = lambda x, y, axis: mean(x, axis) - mean(y, axis)  # noqa: E731
        result = stats.permutation_test((x, y), difference, vectorized=True, rng=np.random.default_rng(1))
        return result.statistic, result.pvalue

    agree(bootstrap, X, rtol=1e-6)
    agree(permutation, X, Y, rtol=1e-6)


# docs/use/ecosystem.md names these limits. A test that fails here says that SciPy has lifted one.
@pytest.mark.parametrize("name", ["inv", "det", "expm", "eigh", "svd", "cholesky"])
def test_limit_linalg_computes_on_the_host(name: str) -> None:
    from scipy import linalg

    given = A @ A.T + 8 * np.eye(8)
    wanted, got = (getattr(linalg, name)(x) for x in (given, fe.asarray(given)))
    for one, other in zip(*((x if isinstance(x, tuple) else (x,)) for x in (got, wanted)), strict=True):
        assert not isinstance(one, fe.Array)
        np.testing.assert_allclose(one, other)


def test_limit_sosfilt_needs_memory_that_can_be_written() -> None:
    filters = fe.asarray(signal.butter(4, 0.3, output="sos"))
    with pytest.raises(ValueError, match="read-only"):
        signal.sosfilt(filters, fe.asarray(S))


@pytest.mark.parametrize("function", [signal.filtfilt, signal.lfilter])
def test_limit_signal_refuses_numpy_arrays_beside_ours(
    function: Callable[..., Any], agree: Callable[..., None]
) -> None:
    b, a = signal.butter(3, 0.2)
    with pytest.raises(TypeError, match="Multiple namespaces"):
        function(b, a, fe.asarray(S))
    agree(function, b, a, S)


def test_limit_sparse_arrays_are_of_numpy() -> None:
    dense = A * (A > 0.5)
    for product in (sparse.csr_array(dense) @ fe.asarray(A), sparse.csr_array(fe.asarray(dense)) @ A):
        assert type(product) is np.ndarray
        np.testing.assert_allclose(product, dense @ A)


def test_limit_oaconvolve_writes_through_a_view() -> None:
    got = np.asarray(signal.oaconvolve(fe.asarray(S), fe.asarray(H)))
    assert not np.allclose(got, signal.oaconvolve(S, H)), "oaconvolve works now"


def test_limit_nsum_adds_int64_to_int32_in_place() -> None:
    with pytest.raises(fe.DTypeError, match="does not become in place"):
        integrate.nsum(lambda k: 1 / k**2, fe.asarray([1.0, 2.0]), np.inf)
