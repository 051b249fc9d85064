"""Benchmarks: timings, published tables, comparisons with other engines. Not installed with bellcrank."""
