"""Run the ``viewspan`` command with a toy in place of the paper's studies.

Usage: python -m tests.studies.toy_command reproduce minerals --out FOLDER ...
"""

from importlib import import_module

from tests.studies.toys import make_slow_blobs, toy_study
from viewspan.cli.main import main


def use_toy() -> None:
    reproduce = import_module("viewspan.studies.reproduce")
    reproduce.check_data = lambda names: None
    reproduce.paper_studies = lambda *_, **__: [toy_study("minerals", generate=make_slow_blobs)]


if __name__ == "__main__":
    use_toy()
    main()
