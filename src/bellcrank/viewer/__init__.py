"""Live sessions: a mechanism simulated in real time, dragged and controlled by users, and its page."""
