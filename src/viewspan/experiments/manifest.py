"""What was run into a folder, and its table of results."""

import json
from pathlib import Path

import pandas as pd

from viewspan.experiments.store import read_rows, write_whole


class Manifest:
    """``studies.json``: for every study the trials of its latest complete run.

    So a second study run into the same folder joins the first in the tables, and the same study with other settings
    takes the place of the former, whose trials stay on disk.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.path = folder / "studies.json"

    def read(self) -> dict[str, tuple[str, int]]:
        """Folder and number of trials by study."""
        if not self.path.exists():
            return {}
        return {name: (run["folder"], run["trials"]) for name, run in json.loads(self.path.read_bytes()).items()}

    def record(self, runs: dict[str, tuple[str, int]]) -> None:
        known = self.read() | runs
        content = {name: {"folder": folder, "trials": trials} for name, (folder, trials) in known.items()}
        write_whole(self.path, json.dumps(content, indent=1).encode())

    def results(self) -> pd.DataFrame:
        """All rows, by study, trial, noise and method."""
        rows = []
        for name, (folder, trials) in self.read().items():
            for trial in range(trials):
                found = read_rows(self.folder / "trials" / folder, trial)
                if found is None:
                    raise FileNotFoundError(
                        f"Trial {trial} of study {name!r} has vanished from {self.folder / 'trials' / folder}: "
                        "run the study again."
                    )
                rows += found
        return pd.DataFrame(rows)
