"""Runs and formulations judged by mechanics, independently of how they were computed."""
