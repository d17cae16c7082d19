"""The pages of the documentation, and what is written on them for people to run."""

import re
import shlex
from pathlib import Path

import numpy as np
import pandas as pd
import scipy.io
from sklearn.datasets import load_digits

ROOT = Path(__file__).parents[1]
PAGES = ["README.md", *sorted(f"docs/{path.name}" for path in (ROOT / "docs").glob("*.md"))]


def read(page: str) -> str:
    return (ROOT / page).read_text(encoding="utf-8")


def blocks(page: str, language: str) -> list[str]:
    """The fenced blocks of a language, in their order."""
    return re.findall(rf"^```{language}\n(.*?)^```$", read(page), flags=re.S | re.M)


def commands(page: str, program: str = "viewspan") -> list[list[str]]:
    """What is to be typed after a program's name: lines of console blocks, and of code that is indented."""
    typed = [
        line.removeprefix("$ ") for block in blocks(page, "console") for line in block.splitlines()
    ]
    typed += re.findall(
        r"^ {4}(\S.*)$", re.sub(r"^```.*?^```$", "", read(page), flags=re.S | re.M), flags=re.M
    )
    return [shlex.split(line, comments=True)[1:] for line in typed if line.split()[0] == program]


def write_files(folder: Path) -> None:
    """The files that pages speak of as those of their readers."""
    rng = np.random.default_rng(0)
    ids = pd.Index([f"P{number:02}" for number in range(80)], name="patient")
    for name, width in (("genes", 30), ("images", 20)):
        planes = rng.normal(size=(4, 2, width))
        table = np.vstack([rng.normal(size=(20, 2)) @ plane for plane in planes])
        table += 0.05 * rng.normal(size=table.shape)
        pd.DataFrame(table, ids, [f"{name[:-1]} {column}" for column in range(width)]).to_csv(
            folder / f"{name}.csv"
        )
    for name in ("genes", "images"):
        pd.read_csv(folder / f"{name}.csv").iloc[:9].to_csv(folder / f"{name}_new.csv", index=False)
    kinds = np.repeat(np.arange(3), 30)
    spectra, camera = (rng.normal(size=(3, 2, 25)), rng.normal(size=(3, 2, 15)))
    weights = rng.normal(size=(90, 2))
    scipy.io.savemat(
        folder / "spectra.mat",
        {"X": np.einsum("ij,ijk->ik", weights, spectra[kinds]), "kind": kinds},
    )
    np.save(folder / "camera.npy", np.einsum("ij,ijk->ik", weights[:, ::-1], camera[kinds]))
    images = load_digits().images[:500]
    np.save(folder / "left.npy", images[:, :, :4].reshape(500, -1))
    np.save(folder / "right.npy", images[:, :, 4:].reshape(500, -1))
