"""SWIM traces for the experiment: arrays, and a digest that names the content."""

from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from callboard.histories.readers.swim_lines import read_swim

REPORT_FILES = {
    "FB09-0": "FB-2009_samples_24_times_1hr_0.tsv",
    "FB09-1": "FB-2009_samples_24_times_1hr_1.tsv",
    "FB10": "FB-2010_samples_24_times_1hr_0.tsv",
}
"""The report's names for its three traces, and SWIM's for the files (report §3)."""


class Trace(NamedTuple):
    """A trace, one entry a job in the file's order; the cache knows it by `digest`."""

    name: str
    digest: str
    submit_s: NDArray[np.float64]
    input_bytes: NDArray[np.float64]
    shuffle_bytes: NDArray[np.float64]
    output_bytes: NDArray[np.float64]


def load_trace(path: Path) -> Trace:
    """Read a SWIM file.  Raises `ScenarioError` naming file, line and column of what is wrong."""
    lines = read_swim(path)
    columns = [
        (line.submit_s, line.input_bytes, line.shuffle_bytes, line.output_bytes) for line in lines
    ]
    submit, read, shuffled, written = np.array(columns, dtype=np.float64).T
    digest = blake2b(path.read_bytes(), digest_size=16).hexdigest()
    return Trace(trace_name(path), digest, submit, read, shuffled, written)


def trace_name(path: Path) -> str:
    """The report's name of the trace if it is one of its three, else the file's stem."""
    names = {file: name for name, file in REPORT_FILES.items()}
    return names.get(path.name, path.stem)
