"""Code and tensor maps that the driver refuses are known before an execution uses them, and NVRTC has its own stack."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from csrc.backends.cuda.tests.processes import Done, Processes

Generate = Callable[..., Done]

REGION = """
f = fe.graph(lambda x: fe.exp(x) * 2 + x)
print(np.asarray(f(put(np.linspace(0, 1, 1000)))).tobytes().hex()[:400])
"""


def test_generated_code_that_cannot_be_loaded_is_not_kept(generate: Generate) -> None:
    """The driver loads a kernel when it is first used, long after cudaLibraryLoadData."""
    own = generate(REGION, FERRULE_CUDA_NVRTC="0")
    refused = generate(REGION, FERRULE_EMULATION_CALL_FAILS="cudaFuncGetAttributes:*:cudaErrorNoKernelImageForDevice")
    assert refused.output == own.output
    assert refused.log.count("cudaFuncGetAttributes returned cudaErrorNoKernelImageForDevice") == 1
    assert generate(REGION).compilations() == 1


def test_code_of_the_cache_that_cannot_be_loaded_is_compiled_again(generate: Generate) -> None:
    first = generate(REGION)
    again = generate(REGION, FERRULE_EMULATION_CALL_FAILS="cudaFuncGetAttributes:1:cudaErrorInvalidKernelImage")
    assert (first.compilations(), again.compilations()) == (1, 1)
    assert again.output == first.output


def test_thread_with_a_small_stack_can_compile(generate: Generate) -> None:
    program = """
f = fe.graph(lambda x: fe.exp(x * 0) + x)
x = put([1, 2, 3])
fe.eval(x)
threading.stack_size(256 << 10)
in_threads(1, lambda _: print(f(x).tolist()))
"""
    done = generate(program)
    assert done.output == "[2.0, 3.0, 4.0]\n"
    assert done.compilations() == 1


@pytest.mark.parametrize("fails", ["", "cuTensorMapEncodeTiled:*:cudaErrorInvalidValue"])
def test_product_whose_tensor_maps_are_refused_has_another_kernel(fails: str, start: Processes) -> None:
    program = """
rng = np.random.default_rng(0)
a, b = (rng.integers(-3, 4, (256, 256)) for _ in range(2))
f = fe.graph(lambda a, b: a @ b)
x, y = (put(values).astype("float16") for values in (a, b))
print(f.trace(x, y).placement()["nodes"][-1]["kernel"])
print(json.dumps([attempt(lambda: np.array_equal(np.asarray(f(x, y).astype("float32")), a @ b)) for _ in range(2)]))
"""
    variables = {"FERRULE_EMULATION_CALL_FAILS": fails} if fails else {}
    done = start(program, FERRULE_EMULATION_MULTIPROCESSORS="2", **variables)
    kernel, found = done.output.splitlines()
    assert ("hopper" in kernel) == (not fails)
    assert json.loads(found) == [True, True]
