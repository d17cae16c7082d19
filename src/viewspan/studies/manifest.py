"""What was run into a folder, and its table of results."""

import json
import re
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from viewspan._utils.files import write_whole
from viewspan.studies.store import read_json, read_rows


class Manifest:
    """``trials/STUDY.json``: for every study the folder and number of trials of its latest complete run.

    So a second study run into the same folder joins the first in the tables, and the same study with other settings
    takes the place of the former, whose trials stay on disk. A file per study, so that no run rewrites another's.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "trials"

    def record(self, study: str, trials: int, store: Path) -> None:
        content = {"folder": store.name, "trials": trials}
        write_whole(self.folder / f"{study}.json", json.dumps(content).encode())

    def results(self, first: Sequence[str] = ()) -> pd.DataFrame:
        """All rows, by study, trial, noise and method; these studies first."""
        others = sorted({path.stem for path in self.folder.glob("*.json")} - set(first))
        rows = []
        for study in [*first, *others]:
            folder, trials = self.latest(study)
            for trial in range(trials):
                found = read_rows(folder, trial)
                if found is None:
                    raise FileNotFoundError(
                        f"Trial {trial} of study {study!r} has vanished from {folder}: run the "
                        f"study again, or remove {self.folder / study}.json to leave it out of the tables."
                    )
                rows += found
        return pd.DataFrame(rows)

    def latest(self, study: str) -> tuple[Path, int]:
        """Folder and number of trials; the folder is one that a store of this study made, beside the file."""
        run = read_json(path := self.folder / f"{study}.json")
        name, trials = (
            (run.get("folder"), run.get("trials")) if isinstance(run, dict) else (None, None)
        )
        ours = isinstance(name, str) and re.fullmatch(re.escape(study) + "-[0-9a-f]{1,64}", name)
        if not ours or not isinstance(trials, int) or trials < 1:
            raise ValueError(
                f"{path} is damaged: run the study again, or remove it to leave it out of the tables."
            )
        return self.folder / str(name), trials
