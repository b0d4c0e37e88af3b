# SPDX-License-Identifier: Apache-2.0
"""A checkpoint: what is recorded of it, and its arrays by name."""
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path

import numpy as np

from .array import Array
from .errors import WeftError
from .manifest import read_manifest
from .shard_reader import ShardReader


class Checkpoint(Mapping):
    """The folder checkpoints/step-<N> of a run; a mapping of names to `Array`.

    The manifest is read at the first question, elements of arrays when they are indexed. What was
    read is checked against its checksum before it is handed out; `verify=False` leaves that out.
    bf16 is given as float32, which holds the same values, or with bf16="ml_dtypes" as
    ml_dtypes.bfloat16, where that package is installed.
    """

    def __init__(self, folder, verify=True, bf16="float32"):
        if bf16 not in ("float32", "ml_dtypes"):
            raise ValueError('bf16 is given as "float32" or "ml_dtypes"')
        self.folder = Path(folder)
        self._verify = verify
        self._bf16 = _bfloat16() if bf16 == "ml_dtypes" else np.float32

    @cached_property
    def _manifest(self):
        return read_manifest(self.folder)

    @cached_property
    def _shards(self):
        return ShardReader(self._manifest, self._verify)

    def _recorded(self, key):
        return self._manifest.record[key]

    step = property(lambda self: self._recorded("step"), doc="Updates that it holds.")
    epoch = property(lambda self: self._recorded("epoch"), doc="Passes over the training data.")
    metrics = property(lambda self: self._recorded("metrics"),
                       doc="Of the last evaluation, by name.")
    metric_step = property(lambda self: self._recorded("metric_step"),
                           doc="The step of that evaluation; -1: none.")
    progress = property(lambda self: self._recorded("counters"),
                        doc="All that a resume needs beside arrays: position in the data, random "
                            "keys, seconds trained, the best evaluation so far.")
    environment = property(lambda self: self._recorded("environment"),
                           doc="Version, threads, kernels and host that saved it.")
    config = property(lambda self: self._recorded("config"), doc="The run's configuration.")
    mesh = property(lambda self: dict(self._manifest.record.get("mesh_axes", [])),
                    doc="Axes with sizes, major to minor; empty: one device.")
    saved_time = property(lambda self: self._recorded("saved_time"),
                          doc="Seconds since 1970-01-01 00:00 UTC.")
    is_pinned = property(lambda self: "by hand" in self._recorded("kept_for"),
                         doc="Kept whatever the rules of the run say.")

    def __getitem__(self, name):
        return Array(self._manifest.arrays[name], self._shards, self._bf16)

    def __iter__(self):
        return iter(self._manifest.arrays)

    def __len__(self):
        return len(self._manifest.arrays)

    __hash__ = object.__hash__

    def __eq__(self, other):
        return self is other

    def __repr__(self):
        return f"<weft_reader.Checkpoint {str(self.folder)!r}>"

    def of_kind(self, kind):
        """Arrays by name of one kind: "parameters", "optimizer" (its state) or "state"."""
        return {name: array for name, array in self.items() if array.kind == kind}

    def problems(self):
        """Reads everything and checks every checksum: one sentence per problem; none: sound."""
        try:
            manifest = read_manifest(self.folder)  # the folder may have changed
        except WeftError as fault:
            return [str(fault)]
        shards = ShardReader(manifest, verify=True)
        checks = [(shards.check_structure, (shard,)) for shard in manifest.shards]
        checks += [(shards.check, (array, piece)) for array in manifest.arrays.values()
                   for piece in array.pieces]
        out = []
        for check, arguments in checks:
            try:
                check(*arguments)
            except WeftError as fault:
                out.append(str(fault))
        return out


def _bfloat16():
    try:
        from ml_dtypes import bfloat16
    except ImportError:
        raise ImportError('bf16="ml_dtypes" needs the package ml_dtypes (pip install ml_dtypes); '
                          "without it bf16 is given as float32") from None
    return bfloat16
