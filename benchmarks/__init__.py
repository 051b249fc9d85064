"""Benchmarks: timings, published tables, other engines side by side. Not installed with bellcrank."""
