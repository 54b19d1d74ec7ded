"""scikit-learn with array_api_dispatch=True."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import ferrule as fe
import numpy as np
import pytest

from tests.python.each import each

sklearn = pytest.importorskip("sklearn", reason="scikit-learn is not installed")

from sklearn import metrics, preprocessing  # noqa: E402
from sklearn.calibration import CalibratedClassifierCV  # noqa: E402
from sklearn.decomposition import PCA  # noqa: E402
from sklearn.linear_model import LogisticRegression, Ridge  # noqa: E402
from sklearn.mixture import GaussianMixture  # noqa: E402
from sklearn.model_selection import cross_val_predict, cross_val_score  # noqa: E402

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(60, 5))
Y = X @ RANDOM.normal(size=5) + 0.1 * RANDOM.normal(size=60)
GUESS = Y + 0.3 * RANDOM.normal(size=60)
CLASSES = (Y > 0).astype(np.int64)
CHANCE = 1 / (1 + np.exp(-GUESS))


@pytest.fixture(autouse=True)
def dispatch() -> Iterator[None]:
    with sklearn.config_context(array_api_dispatch=True), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


MIXTURE = GaussianMixture(2, reg_covar=0.1, random_state=0, init_params="random")
MODELS: dict[str, Any] = {
    "PCA": (lambda x: (lambda model: model.inverse_transform(model.transform(x)))(PCA(2, svd_solver="full").fit(x)), X),
    "Ridge": (lambda x, y: Ridge(1.0, solver="svd").fit(x, y).coef_, X, Y),
    "LogisticRegression": (lambda x, y: LogisticRegression(solver="lbfgs").fit(x, y).predict(x), X, CLASSES),
    "GaussianMixture": (lambda x: MIXTURE.fit(x).covariances_, X),
    "StandardScaler": (lambda x: preprocessing.StandardScaler().fit_transform(x), X),
    "rbf_kernel": (metrics.pairwise.rbf_kernel, X, X[::-1].copy()),
    "roc_curve": (lambda y, p: metrics.roc_curve(y, p), CLASSES, CHANCE),
    "cross_val_predict": (lambda x, y: cross_val_predict(Ridge(solver="svd"), x, y), X, Y),
}


@each("name", MODELS)
def test_models_give_arrays_with_the_values_of_numpy_arrays(name: str, agree: Callable[..., None]) -> None:
    call, *arguments = MODELS[name]
    agree(call, *arguments, rtol=1e-5, atol=1e-7)


@each("method", ["temperature", "isotonic"])
def test_calibration_computes_with_the_default_dtype_float64(method: str, agree: Callable[..., None]) -> None:
    def chances(x: Any, y: Any) -> Any:
        return CalibratedClassifierCV(LogisticRegression(), method=method, cv=2).fit(x, y).predict_proba(x)

    fe.set_default_dtype("float64")
    try:
        agree(chances, X, CLASSES, rtol=1e-5)
    finally:
        fe.set_default_dtype(None)


def test_kernels_of_writable_memory_raise_without_dispatch() -> None:
    with sklearn.config_context(array_api_dispatch=False), pytest.raises(ValueError, match="read-only"):
        metrics.pairwise.chi2_kernel(fe.asarray(X * X))


def test_scores_are_numbers() -> None:
    for score, given in ((metrics.r2_score, (Y, GUESS)), (metrics.f1_score, (CLASSES, CHANCE > 0.5))):
        got = score(*(fe.asarray(x, device="cpu") for x in given))
        assert isinstance(got, float)
        np.testing.assert_allclose(got, score(*given), rtol=1e-6)
    scores = [cross_val_score(Ridge(solver="svd"), *arrays) for arrays in ((X, Y), map(fe.asarray, (X, Y)))]
    np.testing.assert_allclose(*scores, rtol=1e-6)
