"""Backends and devices: loading modules, load reports, finding devices, statistics."""
