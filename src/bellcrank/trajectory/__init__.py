"""Results of a run: access by name, energies, files, plots. Independent of how they were computed."""
