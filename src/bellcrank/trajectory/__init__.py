"""Results of a run: access by name, energies, files, plots. Knows nothing of who computed them."""
