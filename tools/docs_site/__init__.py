"""The documentation site: pages, a reference made from docstrings, the gallery, plots of benchmarks."""
