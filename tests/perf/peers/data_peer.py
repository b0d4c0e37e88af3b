#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""data_peer.py pack IN OUT | read FILE WORKERS [SECONDS]: see README.md."""
import sys
import time

import h5py
import numpy as np

ROWS_PER_CHUNK, BATCH = 8192, 4096


def pack(source, target):
    """The same rows in chunks of gzip, as h5py users write them."""
    with h5py.File(source) as old, h5py.File(target, "w") as new:
        for name in ("x", "y"):
            rows = old[name]
            chunk = (ROWS_PER_CHUNK,) + rows.shape[1:]
            out = new.create_dataset(name, rows.shape, rows.dtype, chunks=chunk, compression="gzip",
                                     shuffle=True)
            for first in range(0, len(rows), 64 * ROWS_PER_CHUNK):
                out[first:first + 64 * ROWS_PER_CHUNK] = rows[first:first + 64 * ROWS_PER_CHUNK]


class Rows:
    """One row at a time, or for a list of rows that follow each other all at once."""

    def __init__(self, path):
        self.path, self.file = path, None
        with h5py.File(path) as file:
            self.rows = len(file["x"])

    def __len__(self):
        return self.rows

    def __getitem__(self, rows):
        if self.file is None:  # every worker opens its own
            self.file = h5py.File(self.path)
        if isinstance(rows, list):
            rows = slice(rows[0], rows[-1] + 1)
        return self.file["x"][rows], self.file["y"][rows]


class Slices:
    """Batches of rows that follow each other, in any order: what h5py reads well."""

    def __init__(self, rows):
        self.rows = rows

    def __len__(self):
        return self.rows // BATCH

    def __iter__(self):
        for batch in np.random.default_rng(1).permutation(len(self)):
            yield list(range(batch * BATCH, (batch + 1) * BATCH))


def rate(loader, seconds):
    iterator, rows = iter(loader), 0
    next(iterator)  # workers have started
    start = time.perf_counter()
    for inputs, _ in iterator:
        rows += len(inputs)
        if time.perf_counter() - start > seconds:
            break
    return rows / (time.perf_counter() - start)


def read(path, workers, seconds):
    from torch.utils.data import DataLoader
    rows = Rows(path)
    every = DataLoader(rows, batch_size=BATCH, shuffle=True, num_workers=workers)
    print(f"rows one by one, shuffled: {rate(every, seconds) / 1e6:.3f} M rows/s", flush=True)
    slices = DataLoader(rows, batch_size=None, sampler=Slices(len(rows)), num_workers=workers)
    print(f"slices of {BATCH} rows, shuffled: {rate(slices, seconds) / 1e6:.3f} M rows/s")


if sys.argv[1] == "pack":
    pack(sys.argv[2], sys.argv[3])
else:
    read(sys.argv[2], int(sys.argv[3]), float(sys.argv[4]) if len(sys.argv) > 4 else 10)
