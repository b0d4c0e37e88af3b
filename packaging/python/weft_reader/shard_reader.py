# SPDX-License-Identifier: Apache-2.0
"""Bytes of the pieces of a checkpoint out of its shards, checked before they are handed out.

HDF5 is not needed for it: the manifest says where the bytes of each piece lie, in one stretch and
without filters, and the checksums are those of these bytes.
"""
import numpy as np

from .crc32c import BLOCK_BYTES, block_crc32c, crc32c
from .errors import USE_ANOTHER, WeftError

BATCH_BYTES = 16 * BLOCK_BYTES  # read and checked at once


class ShardReader:
    """Reads whole MiB of pieces. Holds no file open and no bytes; any thread."""

    def __init__(self, manifest, verify):
        self._manifest = manifest
        self._verify = verify
        self._sound = set()  # shards whose structure was checked
        self._sums_of = {}  # of pieces that were saved with one sum for all their MiB

    def read(self, array, piece, begin, end):
        """Bytes [begin, end) of a piece: uint8[end - begin]. Raises WeftError."""
        first = begin // BLOCK_BYTES
        from_byte = first * BLOCK_BYTES
        to_byte = min(piece.bytes, -(-end // BLOCK_BYTES) * BLOCK_BYTES)
        data = self._bytes(piece.shard, piece.offset + from_byte, to_byte - from_byte)
        if self._verify:
            self._check_structure(piece.shard)
            sums = block_crc32c(data)
            if sums.tolist() != list(self._sums(array, piece)[first:first + len(sums)]):
                raise self._damaged(array, piece)
        return data[begin - from_byte:end - from_byte]

    def check(self, array, piece):
        """Reads all of a piece and checks every checksum of it. Raises WeftError."""
        sums, whole = self._computed_sums(piece)
        if whole != piece.crc32c or (piece.block_sums and sums != piece.block_sums):
            raise self._damaged(array, piece)

    def check_structure(self, shard):
        """Checks what of a shard belongs to no array. Raises WeftError."""
        info = self._manifest.shards[shard]
        found = 0
        at = 0
        ends = [(piece.offset, piece.offset + piece.bytes)
                for _, piece in self._manifest.payload(shard)] + [(info.bytes, info.bytes)]
        for begin, end in ends:
            while at < begin:
                data = self._bytes(shard, at, min(begin - at, BATCH_BYTES))
                found = crc32c(data, found)
                at += data.size
            at = max(at, end)
        if found != info.structure_crc32c:
            raise WeftError(self._manifest.folder / shard, "the checksum of the file's structure "
                            "does not match: its bytes were changed", USE_ANOTHER)

    def _check_structure(self, shard):
        if shard not in self._sound:
            self.check_structure(shard)
            self._sound.add(shard)

    def _sums(self, array, piece):
        if piece.block_sums:
            return piece.block_sums
        if piece.bytes <= BLOCK_BYTES:
            return (piece.crc32c,)
        key = (array.name, piece.start)
        if key not in self._sums_of:
            sums, whole = self._computed_sums(piece)
            if whole != piece.crc32c:
                raise self._damaged(array, piece)
            self._sums_of[key] = sums
        return self._sums_of[key]

    def _computed_sums(self, piece):
        """Of each MiB, and of all bytes of the piece."""
        sums = []
        whole = 0
        for at in range(0, piece.bytes, BATCH_BYTES):
            data = self._bytes(piece.shard, piece.offset + at, min(piece.bytes - at, BATCH_BYTES))
            sums.extend(block_crc32c(data).tolist())
            whole = crc32c(data, whole)
        return tuple(sums), whole

    def _bytes(self, shard, offset, count):
        path = self._manifest.folder / shard
        data = np.empty(count, np.uint8)
        try:
            with open(path, "rb", buffering=0) as file:
                file.seek(offset)
                done = 0
                while done < count:
                    got = file.readinto(memoryview(data)[done:])
                    if not got:
                        raise WeftError(path, f"the file ends at byte {offset + done:,}; it became "
                                        "shorter while it was read", USE_ANOTHER)
                    done += got
        except OSError as fault:
            raise WeftError(path, f"cannot be read: {fault.strerror}", USE_ANOTHER) from None
        return data

    def _damaged(self, array, piece):
        whole = piece.count == array.shape
        block = "" if whole else " [" + ", ".join(
            f"{low}:{low + extent}" for low, extent in zip(piece.start, piece.count)) + "]"
        return WeftError(self._manifest.folder / piece.shard, f"array '{array.name}'{block}: the "
                         "checksum does not match: its bytes were changed", USE_ANOTHER)
