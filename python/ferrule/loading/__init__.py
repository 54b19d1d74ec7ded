"""Backends and devices: loading modules, reports of what was loaded, finding devices, statistics."""
