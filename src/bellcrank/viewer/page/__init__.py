"""The page of a session, shown in a browser by viser (extra `viewer`)."""
