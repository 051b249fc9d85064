"""Live sessions: a mechanism in motion, paced by the clock on the wall, dragged and steered, and its page."""
