"""Graphs: built by hand or traced, the signatures of traced functions, and saved graphs."""
