"""Real data, where it is: ``VIEWSPAN_DATA``, or ``../shared/data`` beside the project."""

import gc
import os
import signal
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[1]

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # A shell starts background commands so, and tests that send Ctrl-C would wait for ever.
    signal.signal(signal.SIGINT, signal.default_int_handler)


LONG_TESTS = ("test_load", "test_determinism", "test_memory", "test_demo", "test_claims")
"""Modules with tests of tens of seconds."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run long tests first, so that at the end both processes have short ones to share."""
    items.sort(key=lambda item: item.path.stem not in LONG_TESTS)


def pytest_xdist_auto_num_workers() -> int:
    """Start one process more than there are cores: some tests wait for processes or sleep."""
    return (os.cpu_count() or 1) + 1


def pytest_collection_finish() -> None:
    """Exclude what was imported from garbage collections, which would look at it all the time."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session")
def data_file() -> Callable[[str], Path]:
    """The path of a data file; a test that needs one that is not there is skipped and says why."""
    folder = Path(os.environ.get("VIEWSPAN_DATA", ROOT.parent / "shared" / "data"))

    def find(name: str) -> Path:
        path = folder / name
        if not path.exists():
            pytest.skip(f"needs {name}: set VIEWSPAN_DATA to the folder that holds it")
        return path

    return find


@pytest.fixture
def minerals(data_file: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch) -> Path:
    """The spectral library is there, and the fetcher finds it."""
    return _offered(data_file("minerals/TIRlib.mat"), monkeypatch)


@pytest.fixture
def faces(data_file: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch) -> Path:
    """The face images are there, and the fetcher finds them."""
    return _offered(data_file("faces/yaleB01_P00A-005E-10.pgm"), monkeypatch)


def _offered(path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("VIEWSPAN_DATA", str(path.parents[1]))
    return path


@pytest.fixture(scope="session")
def load(data_file: Callable[[str], Path]) -> Callable[[str], dict[str, np.ndarray]]:
    """The arrays of an .npz file."""

    def read(name: str) -> dict[str, np.ndarray]:
        with np.load(data_file(name)) as archive:
            return {key: archive[key] for key in archive.files}

    return read
