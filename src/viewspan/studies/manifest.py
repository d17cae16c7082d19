"""Record of the studies whose results are in a folder, and the table of their results."""

import json
import re
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from viewspan._utils.files import write_atomically
from viewspan.studies.store import read_json, read_rows


class Manifest:
    """Folder and number of trials of every study's latest complete run, in ``trials/STUDY.json``.

    The tables show every study of a folder with the settings of its latest run. Trials of earlier
    settings stay on disk. Each study has its own file, so that runs of different studies never
    write to the same file.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "trials"

    def record(self, study: str, trials: int, store: Path) -> None:
        """Store the folder and number of trials of a complete run."""
        content = {"folder": store.name, "trials": trials}
        write_atomically(self.folder / f"{study}.json", json.dumps(content).encode())

    def results(self, first: Sequence[str] = ()) -> pd.DataFrame:
        """Return the rows of all studies, the named ones first, in order of their trials."""
        others = sorted({path.stem for path in self.folder.glob("*.json")} - set(first))
        rows = []
        for study in [*first, *others]:
            folder, trials = self.latest(study)
            for trial in range(trials):
                found = read_rows(folder, trial)
                if found is None:
                    raise FileNotFoundError(
                        f"Trial {trial} of study {study!r} is missing from {folder}: run the "
                        f"study again, or remove {self.folder / study}.json to leave the study "
                        "out of the tables."
                    )
                rows += found
        return pd.DataFrame(rows)

    def latest(self, study: str) -> tuple[Path, int]:
        """Return the folder and number of trials of the latest run.

        The file may come from someone else. Its folder must therefore have the name of a trial
        store of this study, so that no other folder is ever read.
        """
        run = read_json(path := self.folder / f"{study}.json")
        name, trials = (
            (run.get("folder"), run.get("trials")) if isinstance(run, dict) else (None, None)
        )
        valid = isinstance(name, str) and re.fullmatch(re.escape(study) + "-[0-9a-f]{1,64}", name)
        if not valid or not isinstance(trials, int) or trials < 1:
            raise ValueError(
                f"{path} is damaged: run the study again, or remove it to leave the study out of "
                "the tables."
            )
        return self.folder / str(name), trials
