"""Data to try things on."""

from viewspan.datasets.digits import load_digits_views

__all__ = ["load_digits_views"]
