# SPDX-License-Identifier: Apache-2.0
"""CRC-32C (RFC 3720, appendix B.4) at the speed of numpy.

A CRC without its customary inversions is linear: zeros in front change nothing, and the sum of
A + B is that of A, carried over as many zeros as B has bytes, xor that of B. So a message is
taken as rows of words of 8 bytes. All words of a row are carried to the row below at once and
xored into it, until one row is left; that is cut into shorter rows, until one word is left.
"""
import functools

import numpy as np

BLOCK_BYTES = 1 << 20

_POLYNOMIAL = 0x82F63B78  # bits reversed
_ALL_ONES = 0xFFFFFFFF
_ROW_BYTES = (32768, 4096, 512, 64, 8)  # each is cut into eight of the next


def crc32c(data, before=0):
    """The checksum of bytes (uint8, one dimension) that follow others of the checksum `before`."""
    return int(_sums(data.reshape(1, -1))[0]) ^ _after_zeros(before, data.size)


def block_crc32c(data):
    """The checksums of each MiB of bytes (uint8, one dimension): uint32[blocks]."""
    whole = data.size // BLOCK_BYTES
    rest = data[whole * BLOCK_BYTES:]
    sums = _sums(data[:whole * BLOCK_BYTES].reshape(whole, BLOCK_BYTES))
    return np.concatenate([sums, _sums(rest.reshape(1, -1))]) if rest.size else sums


def _sums(messages):
    """Of messages of equal length: uint8[n, bytes] -> uint32[n]."""
    count, length = messages.shape
    if length == 0 or count == 0:
        return np.zeros(count, np.uint32)
    missing = -length % _ROW_BYTES[0]
    if missing:
        messages = np.concatenate([np.zeros((count, missing), np.uint8), messages], axis=1)
    words = np.ascontiguousarray(messages).view("<u8")
    for row_bytes in _ROW_BYTES:
        words = _folded(words.reshape(count, -1, row_bytes // 8), row_bytes)
    inversions = _after_zeros(_ALL_ONES, length) ^ _ALL_ONES
    return _carried(words, 8).reshape(count) ^ np.uint32(inversions)


def _folded(rows, row_bytes):
    """Words of a single row with the sum of all: uint64[n, rows, words] -> uint64[n, words]."""
    words = rows[:, 0]
    for below in range(1, rows.shape[1]):
        words = rows[:, below] ^ _carried(words, row_bytes)
    return words


def _carried(words, distance):
    """What words add to those that begin `distance` bytes behind them: uint64 -> uint32."""
    tables = _tables(distance)
    halves = np.ascontiguousarray(words).view("<u2").reshape(*words.shape, 4)
    out = tables[0].take(halves[..., 0])
    for place in range(1, 4):
        out ^= tables[place].take(halves[..., place])
    return out


@functools.lru_cache(maxsize=None)
def _tables(distance):
    """What each pair of bytes of a word adds, by its place: uint32[4, 65536]."""
    byte_tables = []
    for place in range(8):
        registers = np.arange(256, dtype=np.uint32)
        byte_tables.append(_zeros_fed(registers, distance - place))
    return np.stack([(high[:, None] ^ low[None, :]).reshape(-1)
                     for low, high in zip(byte_tables[0::2], byte_tables[1::2])])


def _after_zeros(register, count):
    """A register of the CRC after `count` bytes that are zero."""
    return int(_zeros_fed(np.array([register], np.uint32), count)[0])


def _zeros_fed(registers, count):
    """The same of many: uint32[n]."""
    power = 0
    while count:
        if count & 1:
            registers = _applied(_zeros_operator(power), registers)
        count >>= 1
        power += 1
    return registers


@functools.lru_cache(maxsize=None)
def _zeros_operator(power):
    """What becomes of each bit of a register after 2^power bytes that are zero: uint32[32]."""
    if power:
        half = _zeros_operator(power - 1)
        return _applied(half, half)
    registers = np.uint32(1) << np.arange(32, dtype=np.uint32)
    for _ in range(8):
        registers = (registers >> 1) ^ (registers & 1) * np.uint32(_POLYNOMIAL)
    return registers


def _applied(operator, registers):
    out = np.zeros_like(registers)
    for bit in range(32):
        out ^= ((registers >> np.uint32(bit)) & np.uint32(1)) * operator[bit]
    return out
