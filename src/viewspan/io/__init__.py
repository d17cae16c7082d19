"""Read views from files and save fitted models."""
