"""Analyses of a mechanism other than simulation, and checks of results, independent of formulations."""
