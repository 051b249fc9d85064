"""Models of other programs: reading URDF, MJCF and SDF files as mechanisms, and writing URDF and MJCF."""
