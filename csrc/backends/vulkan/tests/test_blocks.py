"""Products that read weights in blocks: one node, with the bits of the product with decoded weights."""

from __future__ import annotations

from collections.abc import Callable

import pytest

Run = Callable[..., str]


@pytest.mark.parametrize("name", ["q4_0", "q6_K", "iq2_xs", "mxfp4"])
def test_products_read_stacks_and_parts_of_weights_in_blocks(run: Run, name: str) -> None:
    program = f"""
import json
import pathlib
import warnings
warnings.simplefilter("error")  # an op that runs on the CPU instead
from ferrule.testing.model.values import blocks_with_scales
rng = np.random.default_rng(3)
elements = getattr(fe, "{name}").block_elements
scales = rng.uniform(-0.05, 0.05, (2, 133, 1536 // elements, 2))
packed = np.ascontiguousarray(blocks_with_scales(rng, "{name}", scales)).view(np.uint8).reshape(2, 133, -1)
w = fe.from_packed(packed, "{name}").to_device("vulkan")

for part, m in ((np.s_[:, 3:], 70), (np.s_[:, 3:], 3), (np.s_[1, :, 512:1024], 20), (np.s_[0, ::-2], 1)):
    def product(x, w):
        return x @ fe.matrix_transpose(w.astype("float32")[part]) * 2

    decoded = np.asarray(w.astype("float32"))[part]
    x = fe.asarray(rng.standard_normal((2, m, decoded.shape[-1])).astype(np.float32), device="vulkan")
    graph = fe.graph(product)
    fe.eval(graph(x, w))
    with fe.trace("trace.json"):
        got = graph(x, w)
        fe.eval(got)
    events = json.loads(pathlib.Path("trace.json").read_text())["traceEvents"]
    ran = {{event["name"].split(":")[0] for event in events if event.get("cat") == "kernel"}}
    assert ran == {{"matmul"}}, ran
    want = fe.graph(lambda x, y: x @ fe.matrix_transpose(y) * 2)(x, fe.asarray(decoded, device="vulkan"))
    assert np.asarray(got).tobytes() == np.asarray(want).tobytes(), (part, m)
"""
    run(program)
