# SPDX-License-Identifier: Apache-2.0
"""One array of a checkpoint: its facts at once, its elements when they are asked for."""
import math
import operator

import numpy as np

from .crc32c import BLOCK_BYTES
from .manifest import ELEMENT_BYTES
from .shard_reader import BATCH_BYTES

_STORED = {"f32": "<f4", "f64": "<f8", "i32": "<i4", "i64": "<i8", "u8": "u1", "bf16": "<u2",
           "f16": "<f2"}


class Array:
    """A lazy array, put together from its pieces.

    `array[2:10, :5]` reads the MiB that hold this range and checks their checksums; integers,
    slices and `...` work as they do in numpy. `array[...]` and `numpy.asarray(array)` read all.
    Nothing is kept: every access reads anew.
    """

    def __init__(self, info, shards, bf16):
        self._info = info
        self._shards = shards
        self._bf16 = bf16  # numpy type to give bf16 as

    name = property(lambda self: self._info.name, doc='As in the model, "layers.0.weight".')
    kind = property(lambda self: self._info.kind, doc='"parameters", "optimizer" or "state".')
    shape = property(lambda self: self._info.shape, doc="Of the whole array.")
    spec = property(lambda self: self._info.spec, doc="How it lay over the mesh, \"P('data')\".")
    stored = property(lambda self: self._info.stored, doc='Element type in the file, "bf16".')
    ndim = property(lambda self: len(self.shape), doc="Number of dimensions.")
    size = property(lambda self: math.prod(self.shape), doc="Number of elements.")

    @property
    def dtype(self):
        """Of what is read, a numpy.dtype."""
        return np.dtype(self._bf16 if self.stored == "bf16" else _STORED[self.stored])

    @property
    def stored_bytes(self):
        """Bytes in the checkpoint."""
        return self.size * ELEMENT_BYTES[self.stored]

    def __len__(self):
        if not self.shape:
            raise TypeError("a scalar has no length")
        return self.shape[0]

    def __repr__(self):
        return f"<weft_reader.Array {self.name!r} {self.stored}{list(self.shape)} of {self.kind}>"

    def __array__(self, dtype=None, copy=None):
        if copy is False:
            raise ValueError("an array of a checkpoint is read, which makes a copy")
        whole = np.asarray(self[...])
        return whole if dtype is None else whole.astype(dtype)

    def __getitem__(self, key):
        """A numpy array of `dtype`, or a scalar. Raises IndexError, WeftError."""
        start, count, rest = _box(key, self.shape)
        return self._read(start, count)[rest]

    def _read(self, start, count):
        out = np.empty(count, self.dtype)
        element = ELEMENT_BYTES[self.stored]
        for piece in self._info.pieces:
            low = tuple(map(max, start, piece.start))
            high = tuple(min(a + b, c + d) for a, b, c, d in
                         zip(start, count, piece.start, piece.count))
            if any(first >= end for first, end in zip(low, high)):
                continue
            into = out[tuple(slice(first - begin, end - begin)
                             for first, end, begin in zip(low, high, start)) + (...,)]
            first = tuple(map(operator.sub, low, piece.start))
            for at, hull, from_hull, to in _slabs(piece.count, first,
                                                  tuple(map(operator.sub, high, low)), element):
                data = self._shards.read(self._info, piece, at * element,
                                         (at + math.prod(hull)) * element)
                part = data.view(_STORED[self.stored]).reshape(hull)[from_hull]
                into[to + (...,)] = self._decoded(part)
        return out

    def _decoded(self, part):
        if self.stored != "bf16":
            return part
        if self.dtype.itemsize == 2:
            return part.view(self.dtype)
        return (part.astype("<u4") << np.uint32(16)).view("<f4")  # the upper half of an f32


def _box(key, shape):
    """The box that an index lies in, and the index within it: start, count, rest."""
    keys = key if isinstance(key, tuple) else (key,)
    if any(one is Ellipsis for one in keys):
        at = next(i for i, one in enumerate(keys) if one is Ellipsis)
        missing = len(shape) - (len(keys) - 1)
        keys = keys[:at] + (slice(None),) * missing + keys[at + 1:]
    keys += (slice(None),) * (len(shape) - len(keys))
    if len(keys) > len(shape) or any(one is Ellipsis for one in keys):
        raise IndexError(f"too many indices for an array of {len(shape)} dimensions")
    start, count, rest = [], [], []
    for one, extent in zip(keys, shape):
        if isinstance(one, slice):
            chosen = range(*one.indices(extent))
            start.append(min(chosen[0], chosen[-1]) if chosen else 0)
            count.append(abs(chosen[-1] - chosen[0]) + 1 if chosen else 0)
            rest.append(slice(None, None, chosen.step))
        else:
            if isinstance(one, (bool, np.bool_)) or not hasattr(one, "__index__"):
                raise IndexError("an array of a checkpoint takes integers, slices and ...; "
                                 "read a range and index that")
            place = operator.index(one)
            if not -extent <= place < extent:
                raise IndexError(f"index {place} is outside of a dimension of {extent}")
            start.append(place % extent)
            count.append(1)
            rest.append(0)
    return tuple(start), tuple(count), tuple(rest)


def _slabs(shape, first, count, element):
    """Cuts a box of a dense block into parts whose bytes lie together.

    Gives of each: its first element in the block, the shape of the stretch that is read, the part
    of it that belongs to the box, and where in the box that goes. A stretch has at most
    BATCH_BYTES, and of what is not asked for at most a MiB per row.
    """
    if not shape:
        yield 0, (), (), ()
        return
    inner = math.prod(shape[1:])
    wanted_whole = count[1:] == shape[1:]
    at_once = inner * element <= (BATCH_BYTES if wanted_whole else BLOCK_BYTES)
    end = first[0] + count[0]
    if at_once or len(shape) == 1:
        most = max(1, BATCH_BYTES // (inner * element))
        below = tuple(slice(a, a + b) for a, b in zip(first[1:], count[1:]))
        for row in range(first[0], end, most):
            rows = min(most, end - row)
            to = row - first[0]
            yield (row * inner, (rows,) + shape[1:], (slice(0, rows),) + below,
                   (slice(to, to + rows),))
        return
    for row in range(first[0], end):
        for at, hull, from_hull, to in _slabs(shape[1:], first[1:], count[1:], element):
            yield (row * inner + at, (1,) + hull, (slice(0, 1),) + from_hull,
                   (slice(row - first[0], row - first[0] + 1),) + to)
