"""Taking a mechanism through time: the plan, the start, calls into the core, control, and how it ended."""
