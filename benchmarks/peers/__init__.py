"""Scripts that measure other engines, run by an interpreter that has the engines."""
