"""Open an untrusted file in a separate process first.

libhdf5 and scipy's MATLAB reader can crash or hang on damaged files, and a small file can expand to
any size. A child process with limits on memory and time therefore runs
:mod:`viewspan.io.readers.trial_child` on such a file. If the child crashes, hangs or needs too much
memory, the caller gets an :class:`InputError`.
"""

import io
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, Literal

from viewspan.io.readers.limits import check_memory, max_memory
from viewspan.io.readers.table import InputError

CHILD = Path(__file__).with_name("trial_child.py")
MIN_TIMEOUT, BYTES_PER_SECOND = 600, 1_000_000
"""Timeout in seconds, and the bytes of the file that add one more second.

The timeout is generous because disks can be slow. The child limits its own computing time.
"""
ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
"""Environment of the child. The buffers of BLAS threads would count towards its memory limit."""

Task = Literal["hdf5", "hdf5-small", "matlab"]


def run_trial(path: Path, task: Task, *names: str) -> tuple[dict[str, Any], memoryview]:
    """Open a file in a child process and return the child's report and data.

    Parameters
    ----------
    path : Path
    task : {"hdf5", "hdf5-small", "matlab"}
        Read a whole HDF5 file, its small datasets only, or a MATLAB file of version 4 to 7.
    *names : str
        Datasets or variables to read.

    Returns
    -------
    report : dict
        For ``matlab``, the variables and the layout of the data.
    data : memoryview
        For ``matlab``, the bytes of the arrays.

    Raises
    ------
    InputError
        If the child crashes, times out, or refuses the file.
    ValueError
        If the library that reads the file raises an error.
    MemoryError
    """
    command = [sys.executable, "-P", str(CHILD), task, str(path), str(max_memory(path)), *names]
    try:
        child = subprocess.run(
            command,
            capture_output=True,
            timeout=MIN_TIMEOUT + path.stat().st_size / BYTES_PER_SECOND,
            check=False,
            stdin=subprocess.DEVNULL,
            env={**os.environ, **ONE_THREAD},
        )
    except subprocess.TimeoutExpired as error:
        raise InputError(f"{path} is damaged: reading it does not finish.") from error
    if child.returncode != 0:
        raise InputError(f"{path} is damaged: the process that tried to read it crashed.")
    output = io.BytesIO(child.stdout)
    report = json.loads(output.readline())
    raise_reported_error(path, report)
    return report, output.getbuffer()[output.tell() :]


def raise_reported_error(path: Path, report: dict[str, Any]) -> None:
    if "refused" in report:
        raise InputError(f"{path} {report['refused']}.")
    if "n_bytes" in report:
        check_memory(path, report["n_bytes"])
        raise MemoryError  # more memory is free now than when the child started
    if "out_of_memory" in report:
        raise MemoryError
    if "failed" in report:
        raise ValueError(report["failed"])
