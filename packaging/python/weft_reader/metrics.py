# SPDX-License-Identifier: Apache-2.0
"""The numbers of a run as arrays: metrics/<name>.f64."""
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np

_RECORD = np.dtype([("step", "<i8"), ("time", "<f8"), ("value", "<f8")])


class Series(NamedTuple):
    """One metric in the order of steps, each step once."""

    step: np.ndarray  # int64[n]: updates so far
    value: np.ndarray  # float64[n]
    time: np.ndarray  # float64[n]: seconds since 1970-01-01 00:00 UTC


class Metrics(Mapping):
    """Series by name, "train/loss"; each is read when it is asked for.

    Where a run went on from an earlier step, steps come again: the last record of each counts. A
    record that is not complete yet is left out.
    """

    def __init__(self, folder):
        self._folder = Path(folder)

    def __getitem__(self, name):
        if name not in set(self):
            raise KeyError(name)
        with open(self._folder / f"{name}.f64", "rb") as file:
            data = file.read()
        records = np.frombuffer(data, _RECORD, len(data) // _RECORD.itemsize)
        _, last = np.unique(records["step"][::-1], return_index=True)
        records = records[len(records) - 1 - last]
        return Series(*(np.ascontiguousarray(records[key]) for key in ("step", "value", "time")))

    def __iter__(self):
        for path in sorted(self._folder.rglob("*.f64")):
            yield path.relative_to(self._folder).with_suffix("").as_posix()

    def __len__(self):
        return sum(1 for _ in self)
