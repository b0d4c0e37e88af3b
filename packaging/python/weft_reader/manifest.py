# SPDX-License-Identifier: Apache-2.0
"""manifest.json of a checkpoint: its seal is checked, and what it says against itself."""
import json
import math
import os
from collections import Counter
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import numpy as np

from .crc32c import BLOCK_BYTES, crc32c
from .errors import USE_ANOTHER, WeftError

NAME = "manifest.json"
NEWEST_SCHEMA = 2
ELEMENT_BYTES = {"f32": 4, "bf16": 2, "f16": 2, "f64": 8, "i32": 4, "i64": 8, "u8": 1}

_RECORDED = ("step", "epoch", "counters", "metrics", "metric_step", "environment", "config",
             "kept_for", "saved_time")
_MOST_DIMENSIONS = 8
_SEAL_BYTES = len('  "committed": "crc32c 00000000"\n}\n')


@dataclass(frozen=True)
class Piece:
    """A block of an array in a shard: dense, little endian, C order."""

    start: tuple  # first element of the block in the array
    count: tuple  # its shape
    shard: str
    offset: int  # bytes from the start of the shard
    bytes: int
    crc32c: int
    block_sums: tuple  # CRC-32C of each MiB; empty where only `crc32c` was saved


@dataclass(frozen=True)
class Shard:
    file: str
    bytes: int
    structure_crc32c: int  # of all its bytes that belong to no array


@dataclass(frozen=True)
class ArrayInfo:
    name: str
    kind: str  # "parameters", "optimizer" or "state"
    stored: str  # element type: "f32", "bf16" ...
    shape: tuple
    spec: str  # how it lay over the mesh
    pieces: tuple


@dataclass(frozen=True)
class Manifest:
    folder: Path
    record: dict  # the whole document
    shards: dict  # Shard by file name
    arrays: dict  # ArrayInfo by name, in the order of the manifest

    def payload(self, shard):
        """Pieces in a shard that have bytes, with their arrays, in the order of the file."""
        found = [(array, piece) for array in self.arrays.values() for piece in array.pieces
                 if piece.shard == shard and piece.bytes]
        return sorted(found, key=lambda entry: entry[1].offset)


def read_manifest(folder):
    """Raises WeftError: not there, cut short, changed, of a newer version, files of other sizes, a
    folder with the name of another step."""
    manifest = read_manifest_of_any_step(folder)
    problem = another_step(manifest)
    if problem:
        raise WeftError(folder, problem, "Give it its own name back: "
                        f"{folder_name(manifest.record['step'])}.")
    return manifest


def another_step(manifest):
    """What is wrong with a folder whose name says another step; empty: nothing."""
    step = manifest.record["step"]
    other = step_of(manifest.folder.name) not in (None, step)
    return f"the folder was renamed or copied: it holds step {step:,}" if other else ""


def read_manifest_of_any_step(folder):
    """read_manifest, also where the folder has the name of another step."""
    folder = Path(folder)
    if not folder.is_dir():
        raise WeftError(folder, "there is no checkpoint folder here", "Check the path.")
    path = folder / NAME
    if not path.is_file():
        raise WeftError(path, "the manifest, which is written last, is missing", USE_ANOTHER)
    try:
        manifest = _parse(path.read_bytes(), path)
    except OSError as fault:
        raise WeftError(path, f"cannot be read: {fault.strerror}",
                        "Check its permissions.") from None
    except (KeyError, TypeError, ValueError, AttributeError) as fault:
        raise WeftError(path, f"the manifest is not as Weft writes it: {fault!r}",
                        USE_ANOTHER) from None
    for shard in manifest.shards.values():
        _check_file(folder / shard.file, shard.bytes)
    return manifest


def folder_name(step):
    """Of a checkpoint: "step-00000500"."""
    return f"step-{step:08d}"


def step_of(name):
    """The step in a name that folder_name gives; None in other names."""
    digits = name[len("step-"):]
    known = name.startswith("step-") and digits.isascii() and digits.isdigit()
    return int(digits) if known and folder_name(int(digits)) == name else None


def _check_file(path, size):
    if not path.is_file():
        raise WeftError(path, "a part of the checkpoint is missing", USE_ANOTHER)
    found = os.stat(path).st_size
    if found != size:
        raise WeftError(path, f"the file has {found:,} bytes; the manifest says {size:,}",
                        USE_ANOTHER)


def _parse(text, path):
    body = text[:-_SEAL_BYTES]
    seal = '  "committed": "crc32c %08x"\n}\n' % crc32c(np.frombuffer(body, np.uint8))
    sealed = text[-_SEAL_BYTES:] == seal.encode()
    root = _document(text, path, sealed)
    if root.get("format") != "weft-checkpoint":
        raise WeftError(path, "this is not a checkpoint of Weft", "Check the path.")
    version = root["schema_version"]
    if version > NEWEST_SCHEMA:  # of a newer version not even the seal is known
        raise WeftError(path, f"it was written by a newer version of Weft (schema {version}; "
                        f"this package reads up to {NEWEST_SCHEMA})", "Update weft_reader.")
    if not sealed:
        raise _not_sealed(path)
    missing = [key for key in _RECORDED if key not in root]
    if missing:
        raise ValueError("it has no " + ", ".join(missing))
    shards = {entry["file"]: _shard(entry) for entry in root["shards"]}
    arrays = {}
    for entry in root["tensors"]:
        array = _array(entry, version, shards)
        if array.name in arrays:
            raise ValueError(f"the array {array.name!r} is there twice")
        arrays[array.name] = array
    return Manifest(path.parent, root, shards, arrays)


def _document(text, path, sealed):
    try:
        root = json.loads(text)
    except ValueError:
        if not sealed:
            raise _not_sealed(path) from None
        raise
    if not isinstance(root, dict):
        raise WeftError(path, "this is not a checkpoint of Weft", "Check the path.")
    return root


def _not_sealed(path):
    return WeftError(path, "the commit marker is missing or does not match: the manifest was cut "
                     "short or changed", USE_ANOTHER)


def _shard(entry):
    name = entry["file"]
    if not name or name.startswith(".") or any(sign in name for sign in "/\\\0"):
        raise ValueError(f"{name!r} is not a plain file name")
    return Shard(name, entry["bytes"], entry["structure_crc32c"])


def _array(entry, version, shards):
    shape = tuple(entry["shape"])
    element = ELEMENT_BYTES.get(entry["dtype"])
    if element is None:
        raise ValueError(f"{entry['dtype']!r} is not an element type of this version")
    if len(shape) > _MOST_DIMENSIONS or any(extent < 0 for extent in shape):
        raise ValueError(f"the shape {shape} is none of an array")
    if element * math.prod(shape) != entry["bytes"]:
        raise ValueError(f"the array {entry['name']!r} has not the bytes of its shape")
    if version == 1:
        pieces = (_piece(entry, (0,) * len(shape), shape, element, shards),)
    else:
        pieces = tuple(_piece(piece, tuple(piece["start"]), tuple(piece["count"]), element, shards)
                       for piece in entry["pieces"])
    if not _tile(shape, pieces):
        raise ValueError(f"the pieces of {entry['name']!r} do not hold each element once")
    return ArrayInfo(entry["name"], entry["kind"], entry["dtype"], shape, entry["spec"], pieces)


def _piece(entry, start, count, element, shards):
    size = element * math.prod(count)
    shard = shards[entry["shard"]]
    if not 0 <= entry["offset"] <= shard.bytes - size:
        raise ValueError(f"a piece lies outside of {shard.file}")
    sums = tuple(entry.get("mib_crc32c", ()))
    if sums and len(sums) != -(-size // BLOCK_BYTES):
        raise ValueError("mib_crc32c is not one checksum per MiB")
    return Piece(start, count, shard.file, entry["offset"], size, entry["crc32c"], sums)


def _tile(shape, pieces):
    """Whether blocks hold each element of an array once.

    The indicator functions of blocks are equal where their signed corners are: those of the array
    cancel those of its pieces exactly when the pieces tile it.
    """
    corners = Counter()
    for weight, start, count in [(-1, (0,) * len(shape), shape)] + [
            (1, piece.start, piece.count) for piece in pieces]:
        ends = [low + extent for low, extent in zip(start, count)]
        inside = all(0 <= low <= end <= most for low, end, most in zip(start, ends, shape))
        if not inside or len(start) != len(shape) or len(count) != len(shape):
            return False
        if 0 in count:
            continue
        for upper in product((0, 1), repeat=len(shape)):
            corner = tuple(end if is_end else low
                           for is_end, low, end in zip(upper, start, ends))
            corners[corner] += weight * (-1) ** sum(upper)
    return bool(pieces) and not any(corners.values())
