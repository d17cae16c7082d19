"""Free memory, the memory that fits need, and data that are larger than memory."""

import subprocess
import sys
import textwrap
import tracemalloc

import numpy as np
import pytest

import viewspan
from tests.problems import many_subspaces
from viewspan._utils import memory
from viewspan.fit import dense
from viewspan.fit.memory import dense_fit_bytes
from viewspan.graph import similarity
from viewspan.graph.patterns import Patterns, neighbor_graph, unit_columns


@pytest.mark.parametrize(
    ("n_bytes", "text"),
    [(999, "999 bytes"), (1500, "1.5 kB"), (3.21e9, "3.2 GB"), (4e13, "40.0 TB"), (5e6, "5.0 MB")],
)
def test_bytes_are_readable(n_bytes, text):
    assert memory.readable(n_bytes) == text


def test_some_memory_is_available():
    available = memory.available()
    assert available > 10**6


def test_the_smallest_limit_counts(monkeypatch):
    monkeypatch.setattr(memory, "free_in_system", lambda: 7)
    monkeypatch.setattr(memory, "free_in_cgroup", lambda: None)
    monkeypatch.setattr(memory, "free_in_process", lambda: 5)
    assert memory.available() == 5
    monkeypatch.setattr(memory, "free_in_process", lambda: -1)
    assert memory.available() == 0


@pytest.mark.parametrize("names", memory.CGROUP_FILES)
def test_a_container_has_its_own_limit(names, tmp_path, monkeypatch):
    for name, content in zip(names, ("1000", "600"), strict=True):
        (tmp_path / name).write_text(f"{content}\n")
    (tmp_path / "memory.stat").write_text("anon 500\nactive_file 30\ninactive_file 20\n")
    monkeypatch.setattr(memory, "cgroup_folders", lambda: [tmp_path / "not there", tmp_path])
    assert memory.free_in_cgroup() == 450
    (tmp_path / names[0]).write_text("max\n")
    assert memory.free_in_cgroup() is None


def test_the_group_of_this_process_is_looked_at(monkeypatch):
    lines = {"/proc/self/cgroup": ["4:cpu,memory:/a/b", "0::/c", "3:cpu:/d"]}
    monkeypatch.setattr(memory, "lines_of", lambda name: lines.get(str(name), []))
    assert memory.CGROUP_ROOT / "memory" / "a" / "b" in memory.cgroup_folders()
    assert memory.CGROUP_ROOT / "c" in memory.cgroup_folders()
    assert not any(folder.name == "d" for folder in memory.cgroup_folders())


LIMITED = """
    import resource, sys
    import numpy as np
    import viewspan
    from viewspan._utils import memory

    # import everything before the limit is set
    viewspan.CLRSC(2, random_state=0).fit(np.random.default_rng(0).normal(size=(50, 4)))
    lines = [line.split() for line in open("/proc/self/status")]
    used = 1024 * int(next(words[1] for words in lines if words[0] == "VmData:"))
    limit = used + int(sys.argv[2])
    resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
    assert memory.free_in_process() <= int(sys.argv[2])
    views = [np.load(f"{sys.argv[1]}/{name}.npy", mmap_mode="r") for name in ("first", "second")]
    assert sum(view.nbytes for view in views) > int(sys.argv[2])
    if len(sys.argv) > 3:
        [view + 0.0 for view in views]
    model = viewspan.CLRSC(5, n_landmarks=100, random_state=0).fit(views)
    np.save(f"{sys.argv[1]}/found.npy", model.labels_)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="limits of this kind are Linux's")
def test_a_set_larger_than_the_limit_of_memory_fits(tmp_path, monkeypatch):
    """Two views of 360 MB each on disk, 700 MB for everything that a fit may allocate."""
    few, _ = many_subspaces(5000, width=100)
    copies = 90
    for name, view in zip(("first", "second"), few, strict=True):
        written = np.lib.format.open_memmap(
            tmp_path / f"{name}.npy", "w+", np.float64, (copies * len(view), 100)
        )
        for copy in range(copies):
            written[copy * len(view) : (copy + 1) * len(view)] = view * (1 + copy / copies)
        del written
    limit = 700 * 10**6
    command = [sys.executable, "-c", textwrap.dedent(LIMITED), str(tmp_path), str(limit)]
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "2")
    subprocess.run(command, check=True)
    labels = np.load(tmp_path / "found.npy").reshape(copies, -1)
    assert (labels == labels[0]).all()  # a longer sample is in the same subspace
    loaded = subprocess.run([*command, "load"], capture_output=True, text=True, check=False)
    assert "MemoryError" in loaded.stderr  # the limit is one


def peak_of(function):
    """Return the bytes that a function allocates at its peak."""
    tracemalloc.start()
    try:
        function()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("n_samples", [600, 1200])
@pytest.mark.parametrize("missing", [False, True])
def test_a_dense_fit_needs_no_more_than_estimated(n_samples, missing, monkeypatch):
    views, _ = many_subspaces(n_samples)
    if missing:
        for number, view in enumerate(views):
            view[number::9] = np.nan
    estimates = []

    def estimate(*arguments):
        estimates.append(dense_fit_bytes(*arguments))
        return estimates[-1]

    monkeypatch.setattr(dense, "dense_fit_bytes", estimate)
    model = viewspan.CLRSC(
        5, graph="dense", missing="allow" if missing else "forbid", random_state=0
    )
    peak = peak_of(lambda: model.fit(views))
    assert peak < estimates[0] < 20 * peak


def test_the_graph_of_patterns_needs_no_matrix_of_all_pairs(monkeypatch):
    monkeypatch.setattr(similarity, "BLOCK_ENTRIES", 2**16)
    n_samples = 3000
    rng = np.random.default_rng(0)
    columns = [unit_columns(rng.normal(size=(4, n_samples))) for _ in range(2)]
    patterns = Patterns(columns, [np.ones(4)] * 2)
    assert peak_of(lambda: neighbor_graph(patterns, np.ones(2), 3)) < 4 * n_samples**2
