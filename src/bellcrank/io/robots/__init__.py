"""Models of other programs: URDF, MJCF and SDF files, read as mechanisms and written from them."""
