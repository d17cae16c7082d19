"""Documentation pages, and the code, commands and files that they mention."""

import re
import shlex
from pathlib import Path

import numpy as np
import pandas as pd
import scipy.io
from sklearn.datasets import load_digits

ROOT = Path(__file__).parents[1]
MARKDOWN_FILES = [*(ROOT / "docs").glob("*.md"), *(ROOT / "docs/decisions").glob("*.md")]
PAGES = ["README.md", *sorted(path.relative_to(ROOT).as_posix() for path in MARKDOWN_FILES)]
FENCED_BLOCK = re.compile(r"^```.*?^```$", flags=re.S | re.M)
INDENTED_LINE = re.compile(r"^ {4}(\S.*)$", flags=re.M)


def read(page: str) -> str:
    return (ROOT / page).read_text(encoding="utf-8")


def blocks(page: str, language: str) -> list[str]:
    """Return the fenced code blocks of a language in their order."""
    return re.findall(rf"^```{language}\n(.*?)^```$", read(page), flags=re.S | re.M)


def commands(page: str, program: str = "viewspan") -> list[list[str]]:
    """Return the arguments of all calls of a program in console blocks and indented code."""
    lines = [line for block in blocks(page, "console") for line in block.splitlines()]
    lines = [line.removeprefix("$ ") for line in lines]
    lines += INDENTED_LINE.findall(FENCED_BLOCK.sub("", read(page)))
    return [shlex.split(line, comments=True)[1:] for line in lines if line.split()[0] == program]


def write_files(folder: Path) -> None:
    """Write the files that the pages use as examples of the reader's data."""
    rng = np.random.default_rng(0)
    write_patient_tables(folder, rng)
    write_spectra_and_camera(folder, rng)
    images = load_digits().images[:500]
    np.save(folder / "left.npy", images[:, :, :4].reshape(500, -1))
    np.save(folder / "right.npy", images[:, :, 4:].reshape(500, -1))


def write_patient_tables(folder: Path, rng: np.random.Generator) -> None:
    ids = pd.Index([f"P{number:02}" for number in range(80)], name="patient")
    for name, width in (("genes", 30), ("images", 20)):
        planes = rng.normal(size=(4, 2, width))
        values = np.vstack([rng.normal(size=(20, 2)) @ plane for plane in planes])
        values += 0.05 * rng.normal(size=values.shape)
        columns = [f"{name[:-1]} {column}" for column in range(width)]
        table = pd.DataFrame(values, ids, columns)
        table.to_csv(folder / f"{name}.csv")
        table.iloc[:9].to_csv(folder / f"{name}_new.csv")


def write_spectra_and_camera(folder: Path, rng: np.random.Generator) -> None:
    kinds = np.repeat(np.arange(3), 30)
    spectra, camera = rng.normal(size=(3, 2, 25)), rng.normal(size=(3, 2, 15))
    weights = rng.normal(size=(90, 2))
    samples = np.einsum("ij,ijk->ik", weights, spectra[kinds])
    scipy.io.savemat(folder / "spectra.mat", {"X": samples, "kind": kinds})
    np.save(folder / "camera.npy", np.einsum("ij,ijk->ik", weights[:, ::-1], camera[kinds]))
