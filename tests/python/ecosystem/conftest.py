"""Other libraries' functions, called with ferrule arrays and with NumPy arrays."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import ferrule as fe
import numpy as np
import pytest

# SciPy reads it when it is imported; scikit-learn needs it for array_api_dispatch.
os.environ["SCIPY_ARRAY_API"] = "1"

Agree = Callable[..., None]


def on_device(value: Any) -> Any:
    return fe.asarray(value.copy(), device=fe.best_device()) if isinstance(value, np.ndarray) else value


@pytest.fixture
def agree() -> Agree:
    """Checks that a call gives arrays on the device of its arguments, with the dtypes and values of NumPy's."""

    def check(
        call: Callable[..., Any], *arguments: Any, rtol: float = 1e-7, atol: float = 1e-9, dtype: Any = None
    ) -> None:
        wanted = call(*(x.copy() if isinstance(x, np.ndarray) else x for x in arguments))
        got = call(*map(on_device, arguments))
        if not isinstance(got, tuple):
            wanted, got = (wanted,), (got,)
        assert len(got) == len(wanted)
        for one, other in zip(got, wanted, strict=True):
            assert type(one) is fe.Array
            assert one.device == fe.best_device()
            assert one.dtype == (np.asarray(other).dtype if dtype is None else dtype)
            assert one.shape == np.shape(other)
            np.testing.assert_allclose(np.asarray(one), other, rtol=rtol, atol=atol)

    return check
