"""The page of a session, shown in a browser (extra `viewer`)."""
