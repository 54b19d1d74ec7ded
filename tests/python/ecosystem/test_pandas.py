"""pandas, which copies arrays to NumPy arrays of the same dtype."""

from __future__ import annotations

import ferrule as fe
import numpy as np
import pytest

pd = pytest.importorskip("pandas", reason="pandas is not installed")

A = np.random.default_rng(0).normal(size=(4, 3)).astype(np.float32)


def test_containers_have_the_values_and_dtypes_of_arrays() -> None:
    x = fe.asarray(A)
    pd.testing.assert_series_equal(pd.Series(x[:, 0]), pd.Series(A[:, 0]))
    pd.testing.assert_frame_equal(pd.DataFrame(x, columns=["a", "b", "c"]), pd.DataFrame(A, columns=["a", "b", "c"]))
    pd.testing.assert_frame_equal(pd.DataFrame({"a": x[:, 0]}), pd.DataFrame({"a": A[:, 0]}))
    pd.testing.assert_index_equal(pd.Index(fe.asarray([3, 1])), pd.Index([3, 1]))


def test_arithmetic_and_indexing() -> None:
    series = pd.Series(A[:, 1])
    x = fe.asarray(A[:, 0])
    for one, other in ((series + x, series + A[:, 0]), (x * series, A[:, 0] * series)):
        assert isinstance(one, pd.Series)
        pd.testing.assert_series_equal(one, other)
    pd.testing.assert_series_equal(series.isin(fe.asarray(A[:2, 1])), series.isin(A[:2, 1]))
    pd.testing.assert_series_equal(series.iloc[fe.asarray([2, 0])], series.iloc[[2, 0]])


def test_limit_masks_are_numpy_arrays() -> None:
    frame = pd.DataFrame(A)
    with pytest.raises(KeyError):
        frame[fe.asarray(A[:, 0]) > 0]
    pd.testing.assert_frame_equal(frame[np.asarray(fe.asarray(A[:, 0]) > 0)], frame[A[:, 0] > 0])
