"""A program whose output is the same on each system: its results are exact, whatever the order of additions."""

from __future__ import annotations

import ferrule as fe
import numpy as np

numbers = fe.asarray(np.arange(24, dtype="float32").reshape(4, 6))
print(numbers.device, [device.name for device in fe.devices()])
print((numbers @ numbers.mT).astype("int32"))
print(fe.sum(numbers, axis=0), fe.max(numbers), fe.argmax(numbers, axis=1))
print(numbers[1:, ::2], fe.where(numbers > 5, numbers, -numbers)[0])
traced = fe.graph(lambda x, y: fe.maximum(x * 2 + y, 3))
print(traced(numbers, 1))
print(np.asarray(fe.concat([numbers.astype("int64"), fe.zeros((1, 6), dtype="int64")])).tolist())
print(fe.topk(fe.asarray([3, 1, 2]), 2))
try:
    numbers @ numbers
except fe.Error as error:
    print(type(error).__name__, error)
