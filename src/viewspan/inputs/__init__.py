"""Checks and preprocessing of the views that a user passes."""
