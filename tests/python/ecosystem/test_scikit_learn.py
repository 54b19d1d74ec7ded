"""scikit-learn with array_api_dispatch=True."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import ferrule as fe
import numpy as np
import pytest

sklearn = pytest.importorskip("sklearn", reason="scikit-learn is not installed")
from sklearn import metrics, preprocessing  # noqa: E402
from sklearn.cluster import DBSCAN, KMeans  # noqa: E402
from sklearn.decomposition import PCA  # noqa: E402
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis  # noqa: E402
from sklearn.ensemble import RandomForestClassifier  # noqa: E402
from sklearn.kernel_approximation import Nystroem  # noqa: E402
from sklearn.linear_model import LogisticRegression, Ridge, RidgeClassifier, RidgeCV  # noqa: E402
from sklearn.metrics import pairwise  # noqa: E402
from sklearn.mixture import GaussianMixture  # noqa: E402
from sklearn.model_selection import cross_val_predict, cross_val_score, train_test_split  # noqa: E402
from sklearn.naive_bayes import GaussianNB  # noqa: E402
from sklearn.neighbors import KNeighborsClassifier  # noqa: E402
from sklearn.svm import SVC  # noqa: E402

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(60, 5))
Y = X @ RANDOM.normal(size=5) + 0.1 * RANDOM.normal(size=60)
GUESS = Y + 0.3 * RANDOM.normal(size=60)
CLASSES = (Y > 0).astype(np.int64)
GUESSED = (GUESS > 0).astype(np.int64)
CHANCE = 1 / (1 + np.exp(-GUESS))
Case = tuple[Callable[..., Any], *tuple[Any, ...]]


@pytest.fixture(autouse=True)
def dispatch() -> Iterator[None]:
    with sklearn.config_context(array_api_dispatch=True), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


MODELS: dict[str, Case] = {
    **{
        f"PCA {solver}": (
            lambda x, solver=solver: PCA(
                2, svd_solver=solver, random_state=0, power_iteration_normalizer="QR"
            ).fit_transform(x),
            X,
        )
        for solver in ("auto", "covariance_eigh", "full", "randomized")
    },
    "PCA explained_variance_": (lambda x: PCA(2, svd_solver="full").fit(x).explained_variance_, X),
    "PCA inverse_transform": (
        lambda x: (lambda model: model.inverse_transform(model.transform(x)))(PCA(2, whiten=True).fit(x)),
        X,
    ),
    "Ridge coef_": (lambda x, y: Ridge(1.0, solver="svd").fit(x, y).coef_, X, Y),
    "Ridge predict": (lambda x, y: Ridge(1.0, solver="svd").fit(x, y).predict(x), X, Y),
    "RidgeCV": (lambda x, y: RidgeCV().fit(x, y).coef_, X, Y),
    "RidgeClassifier": (lambda x, y: RidgeClassifier(solver="svd").fit(x, y).predict(x), X, CLASSES),
    "LogisticRegression": (lambda x, y: LogisticRegression(solver="lbfgs").fit(x, y).predict(x), X, CLASSES),
    "LinearDiscriminantAnalysis predict": (
        lambda x, y: LinearDiscriminantAnalysis(solver="svd").fit(x, y).predict(x),
        X,
        CLASSES,
    ),
    "LinearDiscriminantAnalysis predict_proba": (
        lambda x, y: LinearDiscriminantAnalysis(solver="svd").fit(x, y).predict_proba(x),
        X,
        CLASSES,
    ),
    "LinearDiscriminantAnalysis transform": (
        # The sign of a direction is that of a singular vector, which is not determined.
        lambda x, y: abs(LinearDiscriminantAnalysis(solver="svd").fit(x, y).transform(x)),
        X,
        CLASSES,
    ),
    "GaussianNB": (lambda x, y: GaussianNB().fit(x, y).predict_proba(x), X, CLASSES),
    "GaussianMixture": (
        lambda x: GaussianMixture(2, random_state=0, init_params="random", tol=1e-9, max_iter=500).fit(x).means_,
        X,
    ),
    "Nystroem": (lambda x: abs(Nystroem(n_components=5, random_state=0).fit_transform(x)), X),
    **{
        name: (lambda x, name=name: getattr(preprocessing, name)().fit_transform(x), X)
        for name in ("Binarizer", "MaxAbsScaler", "MinMaxScaler", "Normalizer", "PolynomialFeatures", "StandardScaler")
    },
    "LabelEncoder": (lambda y: preprocessing.LabelEncoder().fit_transform(y), CLASSES + 3),
    "LabelBinarizer": (lambda y: preprocessing.LabelBinarizer().fit_transform(y), CLASSES),
    "train_test_split": (lambda x, y: tuple(train_test_split(x, y, random_state=0)), X, Y),
    "cross_val_predict": (lambda x, y: cross_val_predict(Ridge(solver="svd"), x, y), X, Y),
    "confusion_matrix": (metrics.confusion_matrix, CLASSES, GUESSED),
    "precision_recall_curve": (lambda y, p: metrics.precision_recall_curve(y, p), CLASSES, CHANCE),
    "roc_curve": (lambda y, p: metrics.roc_curve(y, p), CLASSES, CHANCE),
    "roc_curve of all points": (lambda y, p: metrics.roc_curve(y, p, drop_intermediate=False), CLASSES, CHANCE),
    **{
        name: (getattr(pairwise, name), abs(X), abs(X[::-1]))
        for name in [
            "additive_chi2_kernel",
            "chi2_kernel",
            "cosine_distances",
            "cosine_similarity",
            "euclidean_distances",
            "laplacian_kernel",
            "linear_kernel",
            "manhattan_distances",
            "paired_cosine_distances",
            "polynomial_kernel",
            "rbf_kernel",
            "sigmoid_kernel",
        ]
    },
}


@pytest.mark.parametrize("name", MODELS)
def test_models_give_arrays_with_the_values_of_numpy_arrays(name: str, agree: Callable[..., None]) -> None:
    call, *arguments = MODELS[name]
    # A distance of an element to itself is a root of rounding errors; the iterations of a mixture stop at a tolerance.
    atol = 1e-6 if "distances" in name else 1e-5 if name == "GaussianMixture" else 1e-7
    agree(call, *arguments, rtol=1e-5, atol=atol)


REGRESSION = (
    "explained_variance_score max_error mean_absolute_error mean_absolute_percentage_error mean_pinball_loss "
    "mean_squared_error median_absolute_error r2_score root_mean_squared_error"
)
OF_POSITIVE = "mean_gamma_deviance mean_poisson_deviance mean_squared_log_error mean_tweedie_deviance d2_tweedie_score"
CLASSIFICATION = (
    "accuracy_score balanced_accuracy_score cohen_kappa_score f1_score hamming_loss jaccard_score precision_score "
    "matthews_corrcoef recall_score zero_one_loss"
)
OF_CHANCES = "average_precision_score brier_score_loss d2_brier_score d2_log_loss_score log_loss"
METRICS = {
    **dict.fromkeys(REGRESSION.split(), (Y, GUESS)),
    **dict.fromkeys(OF_POSITIVE.split(), (abs(Y) + 0.1, abs(GUESS) + 0.1)),
    **dict.fromkeys(CLASSIFICATION.split(), (CLASSES, GUESSED)),
    **dict.fromkeys(OF_CHANCES.split(), (CLASSES, CHANCE)),
    **dict.fromkeys(("calinski_harabasz_score", "davies_bouldin_score"), (X, CLASSES)),
}


@pytest.mark.parametrize("name", METRICS)
def test_metrics_are_numbers(name: str) -> None:
    arrays = [fe.asarray(x.copy(), device="cpu") for x in METRICS[name]]
    got = getattr(metrics, name)(*arrays)
    assert isinstance(got, float)
    # Counts are divided in the default dtype, which is float32.
    np.testing.assert_allclose(got, getattr(metrics, name)(*METRICS[name]), rtol=1e-6)


def test_cross_validated_scores() -> None:
    scores = [cross_val_score(Ridge(solver="svd"), *arrays) for arrays in ((X, Y), map(fe.asarray, (X, Y)))]
    np.testing.assert_allclose(*scores, rtol=1e-6)


def test_roc_auc_score_is_that_of_numpy_arrays() -> None:
    found = metrics.roc_auc_score(fe.asarray(CLASSES), fe.asarray(CHANCE))
    assert found == pytest.approx(metrics.roc_auc_score(CLASSES, CHANCE), rel=1e-6)


# docs/use/ecosystem.md names these limits. A test that fails here says that scikit-learn has lifted one.
def test_limit_silhouette_score_writes_through_flat() -> None:
    with pytest.raises(AttributeError, match="flat"):
        metrics.silhouette_score(fe.asarray(X), fe.asarray(CLASSES))


@pytest.mark.parametrize(
    "model",
    [
        KMeans(2, n_init=1, random_state=0),
        SVC(),
        RandomForestClassifier(5, random_state=0),
        KNeighborsClassifier(),
        DBSCAN(),
    ],
    ids=lambda model: type(model).__name__,
)
def test_limit_models_that_are_not_converted_need_a_context_without_dispatch(model: Any) -> None:
    x, classes = fe.asarray(X), fe.asarray(CLASSES)
    with pytest.raises((TypeError, ValueError)):
        model.fit(x, classes)
    with sklearn.config_context(array_api_dispatch=False):
        got = model.fit(x, classes)
        got = got.labels_ if isinstance(model, DBSCAN) else got.predict(x)
        wanted = model.fit(X, CLASSES)
        wanted = wanted.labels_ if isinstance(model, DBSCAN) else wanted.predict(X)
    assert type(got) is np.ndarray
    np.testing.assert_array_equal(got, wanted)
