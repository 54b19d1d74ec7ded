"""Integers to negative powers: the shader finds them, and the execution has an error, as on the CPU."""

from __future__ import annotations

from collections.abc import Callable

import pytest

Run = Callable[..., str]

PRELUDE = """
fe.load_all()
def put(numbers, dtype): return fe.asarray(np.array(numbers, dtype), device="vulkan")
def attempt(function):
    try: return np.asarray(function()).tolist()
    except fe.InvalidArgumentError as error: return str(error)
"""

SIGNED = ["int8", "int16", "int32", "int64"]


@pytest.mark.parametrize("dtype", SIGNED)
def test_a_negative_exponent_anywhere_is_an_error_that_names_op_and_dtype(run: Run, dtype: str) -> None:
    program = f"""
least = int(np.iinfo("{dtype}").min)
for exponent in (-1, -3, least):
    for at in (0, 700, 1000):
        exponents = np.arange(1001) % 5
        exponents[at] = exponent
        for base in (0, 1, -1, 2):
            message = attempt(lambda: fe.pow(put([base] * 1001, "{dtype}"), put(exponents, "{dtype}")))
            expected = "pow: {dtype} to a negative integer power has no integer result"
            assert message == expected, (exponent, at, base, message)
# The device goes on, and nothing of it is left.
x, y = np.arange(-3, 4).astype("{dtype}"), (np.arange(7) % 4).astype("{dtype}")
assert attempt(lambda: fe.pow(put(x, "{dtype}"), put(y, "{dtype}"))) == (x ** y).tolist()
print("ok")
"""
    assert run(PRELUDE + program) == "ok\n"


# A Python number, a broadcast exponent, one that is computed in the same body, one that is widened there (whose sign
# some drivers lose), one that nothing else reads, and one after a matrix product and a reduction.
FUSED = {
    "a number": "lambda x, n: x ** -2 + 1",
    "one for all": "lambda x, n: fe.pow(x + 1, n[:1]) * 2",
    "of the body": "lambda x, n: fe.pow(x * x, n + 1) - x",
    "widened": "lambda x, n: fe.pow(fe.astype(x, fe.int64), fe.astype(n, fe.int64)) + 1",
    "beside a result": "lambda x, n: (x + n, fe.pow(x, n) * 3)",
    "of a matrix product": "lambda x, n: fe.pow(fe.astype(x, fe.int32), fe.matmul(fe.astype(n, fe.int32), x * 0 + 1))",
    "behind a sum": "lambda x, n: fe.pow(x[0], fe.astype(fe.sum(fe.astype(n, fe.float32), axis=0), x.dtype))",
}


@pytest.mark.parametrize("subgroups", ["1", "0"])
@pytest.mark.parametrize("body", FUSED.values(), ids=FUSED.keys())
def test_fused_powers_report_negative_exponents_too(run: Run, body: str, subgroups: str) -> None:
    program = f"""
f = fe.graph({body})
def results(negative, dtype="int32"):
    x = put(np.arange(1, 26).reshape(5, 5) % 4 + 1, dtype)
    n = put(np.full((5, 5), -2 if negative else 2), dtype)
    return attempt(lambda: [np.asarray(y).tolist() for y in (lambda r: r if isinstance(r, tuple) else (r,))(f(x, n))])
for dtype in ("int16", "int32"):
    for _ in range(2):
        message = results(True, dtype)
        assert isinstance(message, str) and message.startswith("pow: int"), message
        assert message.endswith(" to a negative integer power has no integer result"), message
"""
    negative_number = body == FUSED["a number"]
    after = "" if negative_number else "    assert not isinstance(results(False, dtype), str), results(False, dtype)\n"
    assert run(PRELUDE + program + after + 'print("ok")\n', FERRULE_VULKAN_SUBGROUPS=subgroups) == "ok\n"
