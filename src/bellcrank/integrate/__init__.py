"""Integration over time: methods, their options, and the one call into the core that makes a run."""
