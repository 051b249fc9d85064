"""The page of a session: what it shows in a browser, on viser (extra `viewer`)."""
