"""Inspection of module files of any system, on any system, without running them."""
