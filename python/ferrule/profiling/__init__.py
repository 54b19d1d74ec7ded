"""Traces and profiles: recordings of what ferrule does, and the times in them."""
