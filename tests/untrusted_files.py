"""Small files of every format, functions that damage them, and functions that read them.

The tests and ``benchmarks/fuzz.py`` use them.
"""

import gzip
import io
import json
import random
import re
import struct
import warnings
import zipfile
import zlib
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

import numpy as np
import pandas as pd
import scipy.io
import scipy.sparse

import viewspan
from viewspan.io.models.archive import DESCRIPTION, SUMS
from viewspan.io.readers.labels import read_labels
from viewspan.io.readers.read import contents, read
from viewspan.io.readers.table import InputError, Reading
from viewspan.studies.manifest import Manifest
from viewspan.studies.store import NUMBER_COLUMNS, TEXT_COLUMNS
from viewspan.studies.tables import summarize

NUMBER = re.compile(rb"\d+")
BOUNDARY_NUMBERS = (
    *(0, 1, 2, 7, 127, 128, 255, 256, 32767, 65535, 2**31 - 1, 2**31, 2**32 - 1),
    *(2**40, 2**62, 2**63 - 1),
)
"""Numbers at which integer types overflow."""
BAD_TEXTS = (
    *(b"\x00", b"\xff\xfe", b"nan", b"inf", b"-1", b"1e999", b"99999999999999999999", b'"', b"\n"),
    *(b"\r", b",,,,", b"../../etc/passwd", b"/etc/passwd", b"=1+1", b"[[[[[[[[", b"{}", b"null"),
    *(b"|O", b"O", b"\xe2\x80\xae", b"::"),
)
"""Texts that parsers often handle wrongly."""
VALUES = np.array([[1.5, 4.0, 1.0], [2.0, 5.0, 0.0], [3.0, 6.0, 1.0], [0.0, 0.5, 7.25]])
MAT_KEYS = {"deep.mat": "::C", "outside.mat": "::S"}
"""Variables of files that caused a defect (``tests/seeds``); other MATLAB files have X."""
Damage = Callable[[bytes, random.Random], bytes]
"""Function that returns a damaged copy of the content of a file."""


@dataclass(frozen=True)
class Loader:
    """A reader, valid files for it, and functions that damage them.

    Attributes
    ----------
    write_files : function
        Writes valid files into a folder.
    use : function
        Reads a file and uses its content.
    expected : tuple of exception types
        Exceptions that ``use`` may raise.
    damage_inside : dict
        Functions that damage the compressed content of a file, by file extension.
    """

    write_files: Callable[[Path], None]
    use: Callable[[Path], object]
    expected: tuple[type[Exception], ...] = (InputError,)
    damage_inside: dict[str, Damage] = field(default_factory=dict)

    def files(self, folder: Path) -> dict[str, bytes]:
        """Write valid files into a folder and return their content by name."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.write_files(folder)
        return {path.name: path.read_bytes() for path in sorted(folder.iterdir()) if path.is_file()}

    def damaged(self, name: str, content: bytes, rng: random.Random) -> bytes:
        """Return a damaged copy, often with valid compression and checksums."""
        inside = self.damage_inside.get(Path(name).suffix)
        if inside is not None and rng.random() < 0.7:
            # A file that is damaged already may not open again.
            with suppress(Exception):
                return inside(content, rng)
        return damage(content, rng)

    def outcome(self, path: Path) -> str:
        """Return "read", or the message of an expected exception if it is one sentence."""
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                self.use(path)
        except self.expected as error:
            sentence = str(error)
            if "\n" in sentence.strip() or not sentence.strip():
                raise AssertionError(f"not one sentence: {sentence!r}") from error
            return sentence.replace(str(path), "FILE").replace(str(path.parent), "FOLDER")
        return "read"


def damage(content: bytes, rng: random.Random) -> bytes:
    """Return a copy with one to eight random changes."""
    data = bytearray(content)
    for _ in range(rng.choice((1, 1, 1, 2, 3, 8))):
        change(data, rng)
    return bytes(data)


def change(data: bytearray, rng: random.Random) -> None:
    """Change, insert or delete bytes at a random place."""
    place = rng.randrange(len(data) + 1)
    match rng.randrange(9):
        case 0 if data:
            data[place % len(data)] ^= 1 << rng.randrange(8)
        case 1 if data:
            data[place % len(data)] = rng.randrange(256)
        case 2:
            width, order = rng.choice((1, 2, 4, 8)), rng.choice(("little", "big"))
            data[place : place + width] = (rng.choice(BOUNDARY_NUMBERS) % 256**width).to_bytes(
                width, order
            )
        case 3:
            del data[place : place + rng.choice((1, 2, 4, 8, 64, 1000))]
        case 4:
            data[place:place] = data[place : place + rng.choice((1, 8, 64))] * rng.choice(
                (1, 2, 100)
            )
        case 5:
            data[place:place] = rng.choice(BAD_TEXTS)
        case 6:
            del data[place:]
        case 7:
            other = rng.randrange(len(data) + 1)
            data[place : place + 16] = data[other : other + 16]
        case _:
            found = list(NUMBER.finditer(data))
            if found:
                start, end = rng.choice(found).span()
                data[start:end] = str(rng.choice(BOUNDARY_NUMBERS)).encode()


def damage_zip(content: bytes, rng: random.Random) -> bytes:
    """Damage one part of an archive and update its checksum."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        parts = [(entry.filename, archive.read(entry)) for entry in archive.infolist()]
    chosen = rng.randrange(len(parts))
    packing = rng.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED))
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", packing) as archive:
        for place, (name, part) in enumerate(parts):
            archive.writestr(name, damage(part, rng) if place == chosen else part)
    return buffer.getvalue()


def damage_gzip(content: bytes, rng: random.Random) -> bytes:
    return gzip.compress(damage(gzip.decompress(content), rng), 1)


def damage_mat(content: bytes, rng: random.Random) -> bytes:
    """Damage one variable of a MATLAB file, and compress it again if it was compressed."""
    head, places, place = content[:128], [], 128
    while place < len(content):
        kind, size = struct.unpack_from("<II", content, place)
        places.append((place, kind, size))
        place += 8 + size
    start, kind, size = rng.choice(places)
    body = content[start + 8 : start + 8 + size]
    body = zlib.compress(damage(zlib.decompress(body), rng), 1) if kind == 15 else damage(body, rng)
    return (
        head
        + content[128:start]
        + struct.pack("<II", kind, len(body))
        + body
        + content[start + 8 + size :]
    )


def use_views(path: Path, keys: tuple[str, ...] = ("",)) -> None:
    """List the contents of a file, read its views, and use every value."""
    errors = []
    for use in (use_contents, *(lambda path, key=key: use_values(f"{path}{key}") for key in keys)):
        try:
            use(path)
        except InputError as error:
            errors.append(error)
    if errors:
        raise errors[0]


def use_contents(path: Path) -> None:
    for part in contents(path):
        assert f"{part} {part.kind}"


def use_values(text: str) -> None:
    for table in read(text, Reading()):
        values = table.values
        width = table.shape[1]
        product = (
            values @ np.ones(width)
            if scipy.sparse.issparse(values)
            else np.asarray(values, dtype=float).sum()
        )
        assert np.shape(product) in ((), (table.shape[0],))


def use_labels(path: Path) -> None:
    key = {".npz": "::y", ".mat": "::y"}.get(path.suffix, "")
    found = read_labels(f"{path}{key}", Reading(), None, 4)
    assert found.dtype.kind == "U" and len(found) == 4


def use_trials(path: Path) -> None:
    """Summarise the trials of a study in which one file is replaced by this file."""
    folder = path.parent / "run"
    (folder / "trials" / "toy-abc").mkdir(parents=True, exist_ok=True)
    places = {"toy.json": "trials", "00000.json": "trials/toy-abc"}
    for name, place in places.items():
        content = path.read_bytes() if path.name == name else valid_trials()[name]
        (folder / place / name).write_bytes(content)
    summarize(Manifest(folder).results())


def valid_trials() -> dict[str, bytes]:
    row = (
        dict.fromkeys(NUMBER_COLUMNS, 1.0)
        | dict.fromkeys(TEXT_COLUMNS, "a")
        | {"trial": 0, "point": 0, "setting": "auto"}
    )
    rows = [row | {"method": method, "setting": "grid"} for method in "ab"] + [
        row | {"sca": float("nan")}
    ]
    return {
        "toy.json": json.dumps({"folder": "toy-abc", "trials": 1}).encode(),
        "00000.json": json.dumps(rows).encode(),
    }


def model_files(folder: Path) -> None:
    views = [
        np.vstack([np.outer(np.arange(1.0, 9.0), row) for row in np.eye(2, 3)]) for _ in range(2)
    ]
    viewspan.save(viewspan.CLRSC(2, random_state=0).fit(views), folder / "whole.model")


def damage_model(content: bytes, rng: random.Random) -> bytes:
    """Damage one part of a model and update the checksums."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        parts = {entry.filename: archive.read(entry) for entry in archive.infolist()}
    chosen = rng.choice([DESCRIPTION, *parts])
    parts[chosen] = damage(parts[chosen], rng)
    if chosen != SUMS:
        parts[SUMS] = "".join(
            f"{sha256(parts[name]).hexdigest()}  {name}\n" for name in parts if name != SUMS
        ).encode()
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, part in parts.items():
            archive.writestr(name, part)
    return buffer.getvalue()


def use_model(path: Path) -> None:
    """Load a model and predict. A damaged model may raise any exception, but must not crash."""
    model = viewspan.load(path)
    for method in (model.predict, model.transform, model.predict_confidence):
        with suppress(Exception):
            method([VALUES[:, :3], VALUES[:, :3]])


def text_files(folder: Path) -> None:
    frame = pd.DataFrame(VALUES, columns=["x", "y y", "z"], index=["p", "q", "007", "é"])
    frame.to_csv(folder / "names.csv")
    frame.to_csv(folder / "bare.tsv", sep="\t", index=False)
    frame.to_csv(folder / "packed.csv.gz")
    (folder / "quoted.csv").write_text('"a, b";c\n"1";2\n3;"4"\n')
    np.savetxt(folder / "spaces.txt", VALUES)


def npy_files(folder: Path) -> None:
    np.save(folder / "rows.npy", VALUES)
    np.save(folder / "columns.npy", np.asfortranarray(VALUES.astype(">f4")))
    np.save(folder / "records.npy", np.zeros(3, dtype=[("a", "f8"), ("b", "i4", (2,))]))


def npz_files(folder: Path) -> None:
    np.savez_compressed(folder / "arrays.npz", X=VALUES, y=np.arange(4))
    for kind in ("csr", "csc", "coo", "dia", "bsr"):
        scipy.sparse.save_npz(folder / f"{kind}.npz", scipy.sparse.csr_array(VALUES).asformat(kind))


def mat_files(folder: Path) -> None:
    cells = np.empty((1, 2), dtype=object)
    cells[0, 0], cells[0, 1] = VALUES, VALUES[:, :2]
    sparse = scipy.sparse.csc_array(VALUES)
    scipy.io.savemat(folder / "plain.mat", {"X": VALUES, "y": np.arange(4)})
    scipy.io.savemat(folder / "packed.mat", {"X": VALUES, "text": "abc"}, do_compression=True)
    scipy.io.savemat(folder / "cells.mat", {"X": cells})
    scipy.io.savemat(folder / "packed_cells.mat", {"X": cells}, do_compression=True)
    scipy.io.savemat(folder / "sparse.mat", {"X": sparse})
    scipy.io.savemat(folder / "struct.mat", {"X": {"a": VALUES, "b": {"c": 1}}})
    scipy.io.savemat(folder / "old.mat", {"X": VALUES, "y": np.arange(4)}, format="4")
    scipy.io.savemat(folder / "old_sparse.mat", {"X": sparse}, format="4")


def mat73_files(folder: Path) -> None:
    import h5py

    for name, packing in (
        ("plain.mat", {}),
        ("packed.mat", {"compression": "gzip", "chunks": (2, 2)}),
    ):
        with h5py.File(folder / name, "w", userblock_size=512) as file:
            file.create_dataset("X", data=VALUES.T, **packing)
            file["X"].attrs["MATLAB_class"] = np.bytes_("double")
            cells = [file.create_dataset(f"#refs#/{name}", data=VALUES.T[:2]) for name in "ab"]
            file.create_dataset(
                "C", data=np.array([[cell.ref] for cell in cells], dtype=h5py.ref_dtype)
            )
            file["C"].attrs["MATLAB_class"] = np.bytes_("cell")


def parquet_files(folder: Path) -> None:
    frame = pd.DataFrame(VALUES, columns=["x", "y", "z"], index=["p", "q", "r", "s"])
    frame.to_parquet(folder / "names.parquet")
    frame.reset_index(drop=True).to_parquet(folder / "bare.parquet", compression="zstd")
    frame.assign(word=list("abab"), yes=True, whole=[1, 2, None, 4]).to_parquet(
        folder / "mixed.parquet"
    )


def modality(features: slice = slice(None)) -> object:
    import anndata

    cells = pd.DataFrame({"patient": pd.Categorical(list("uvuv"))}, index=list("pqrs"))
    data = anndata.AnnData(
        scipy.sparse.csc_array(VALUES[:, features]), obs=cells, layers={"raw": VALUES[:, features]}
    )
    data.obsm["X_pca"] = VALUES[:, :2]
    data.uns["note"] = {"author": "me", "numbers": np.arange(3)}
    return data


def h5ad_files(folder: Path) -> None:
    modality().write_h5ad(folder / "plain.h5ad")
    modality().write_h5ad(folder / "packed.h5ad", compression="gzip")


def h5mu_files(folder: Path) -> None:
    import mudata

    mudata.MuData({"rna": modality(), "prot": modality(slice(0, 2))}).write_h5mu(
        folder / "two.h5mu"
    )


def label_files(folder: Path) -> None:
    (folder / "named.csv").write_text("kind\na\nb\na\n\n")
    np.save(folder / "y.npy", np.array(["a", "b", "c", "d"]))
    np.savez(folder / "y.npz", y=np.arange(4.0))
    scipy.io.savemat(
        folder / "y.mat", {"y": np.array(["a", "b", "c", "d"], dtype=object)}, do_compression=True
    )
    pd.DataFrame({"kind": [1, 2, 1, None]}).to_parquet(folder / "y.parquet")


def trial_files(folder: Path) -> None:
    for name, content in valid_trials().items():
        (folder / name).write_bytes(content)


LOADERS = {
    "text": Loader(text_files, use_views, damage_inside={".gz": damage_gzip}),
    "npy": Loader(npy_files, use_views),
    "npz": Loader(npz_files, use_views, damage_inside={".npz": damage_zip}),
    "mat": Loader(
        mat_files,
        lambda path: use_views(path, (MAT_KEYS.get(path.name, "::X"),)),
        damage_inside={".mat": damage_mat},
    ),
    "mat73": Loader(mat73_files, lambda path: use_views(path, ("::X", "::C"))),
    "parquet": Loader(parquet_files, use_views),
    "h5ad": Loader(h5ad_files, lambda path: use_views(path, ("", "::raw", "::X_pca"))),
    "h5mu": Loader(h5mu_files, use_views),
    "labels": Loader(
        label_files, use_labels, damage_inside={".npz": damage_zip, ".mat": damage_mat}
    ),
    "model": Loader(
        model_files, use_model, expected=(ValueError,), damage_inside={".model": damage_model}
    ),
    "trials": Loader(trial_files, use_trials, expected=(ValueError, FileNotFoundError)),
}
