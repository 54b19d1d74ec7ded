"""Graphs: built by hand or traced, the signatures of traced functions, saved graphs."""
