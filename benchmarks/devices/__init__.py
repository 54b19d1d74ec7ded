"""The bench of one device: `python -m benchmarks --device cuda:0`. csrc/backends/cuda/docs/bench.md explains it.

Times are the device's, each row has its limit, and peers that are installed are measured in turn with ferrule.
"""
