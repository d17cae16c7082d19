"""Data sets: bundled digits, and the data of the paper's three studies."""

from viewspan.datasets.digits import load_digit_halves, load_digits_views
from viewspan.datasets.faces import fetch_yale_faces, make_face_appearances
from viewspan.datasets.minerals import fetch_minerals, make_mineral_mixtures
from viewspan.datasets.subspaces import make_subspaces

__all__ = [
    "fetch_minerals",
    "fetch_yale_faces",
    "load_digit_halves",
    "load_digits_views",
    "make_face_appearances",
    "make_mineral_mixtures",
    "make_subspaces",
]
