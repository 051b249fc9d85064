"""Judges that belong to no formulation, and questions about a mechanism other than how it moves by itself."""
