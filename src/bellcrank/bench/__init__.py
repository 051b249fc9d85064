"""Benchmarks: mechanisms by parameters, timings, the published tables, other engines side by side."""
