"""Run the ``viewspan`` command with a toy in place of the paper's studies and figures.

Usage: python -m tests.studies.toy_command reproduce minerals --out FOLDER ...
"""

from importlib import import_module

from tests.studies.toys import make_slow_blobs, toy_study
from viewspan.cli.main import main


def toy_studies(*_, **__):
    return [toy_study("minerals", generate=make_slow_blobs)]


def toy_figures(summary, out, titles):
    return {out / "minerals.png": summary.drop(columns="seconds").to_csv().encode()}


REPLACED = {
    "check_data": lambda names: None,
    "paper_studies": toy_studies,
    "figure_files": toy_figures,
}
"""Functions of ``viewspan.studies.reproduce`` that the toy replaces."""

if __name__ == "__main__":
    reproduce = import_module("viewspan.studies.reproduce")
    for name, function in REPLACED.items():
        setattr(reproduce, name, function)
    main()
