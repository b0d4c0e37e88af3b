#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# The order of samples that are read in windows, from its description alone (core/data/sampler.h,
# kernels/philox.h, core/base/philox.h): writes order.txt. Run it in this folder; Python alone.
import math

M32, M64 = 0xFFFFFFFF, 0xFFFFFFFFFFFFFFFF


def philox(counter, key):
    """Philox4x32-10 (Salmon et al. 2011)."""
    c, (k0, k1) = list(counter), key
    for _ in range(10):
        p0, p1 = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [(p1 >> 32) ^ c[1] ^ k0, p1 & M32, (p0 >> 32) ^ c[3] ^ k1, p0 & M32]
        k0, k1 = (k0 + 0x9E3779B9) & M32, (k1 + 0xBB67AE85) & M32
    return c


def mix(x):
    """The finaliser of SplitMix64."""
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & M64
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & M64
    return x ^ (x >> 31)


def fnv(name):
    h = 0xCBF29CE484222325
    for byte in name.encode():
        h = ((h ^ byte) * 0x100000001B3) & M64
    return h


class Stream:
    def __init__(self, seed, name):
        mixed = mix(mix((seed + 0x9E3779B97F4A7C15) & M64) ^ fnv(name))
        self.key = (mixed & M32, mixed >> 32)

    def block(self, step, index):
        return philox([index & M32, index >> 32, step & M32, step >> 32], self.key)

    def below(self, step, index, bound):
        words = self.block(step, index)
        return ((words[1] << 32 | words[0]) * bound) >> 64


def permutation(count, stream, epoch):
    """Ten half-rounds on numbers of as many bits; those out of range are sent on."""
    keys = []
    for i in range(0, 10, 2):
        w = stream.block(epoch, i)
        keys += [w[1] << 32 | w[0], w[3] << 32 | w[2]]
    bits = (count - 1).bit_length()
    low_bits = bits // 2
    low_mask, high_mask = (1 << low_bits) - 1, (1 << (bits - low_bits)) - 1

    def at(value):
        while True:
            low, high = value & low_mask, value >> low_bits
            for i in range(0, 10, 2):
                high ^= mix((low + keys[i]) & M64) & high_mask
                low ^= mix((high + keys[i + 1]) & M64) & low_mask
            value = high << low_bits | low
            if value < count:
                return value

    return [at(i) for i in range(count)]


def row_places(rows, seed, epoch, window):
    width = math.isqrt(rows - 1) + 1
    height = -(-rows // width)
    stream, number, tables = Stream(seed, "data.order.rows"), window << 24, []
    for k in range(4):
        size, bound = (width, height) if k % 2 == 0 else (height, width)
        tables.append([stream.below(epoch, number + i, bound) for i in range(size)])
        number += size

    def place(row):
        while True:
            left, right = divmod(row, width)
            for k in range(0, 4, 2):
                left = (left + tables[k][right]) % height
                right = (right + tables[k + 1][left]) % width
            row = left * width + right
            if row < rows:
                return row

    return [place(row) for row in range(rows)]


def order(samples, block, window_rows, seed, epoch):
    starts = list(range(0, samples, block)) + [samples]
    blocks = permutation(len(starts) - 1, Stream(seed, "data.order.blocks"), epoch)
    windows, rows = [[]], 0
    for b in blocks:
        size = starts[b + 1] - starts[b]
        if windows[-1] and rows + size > window_rows:
            windows.append([])
            rows = 0
        windows[-1].append(b)
        rows += size
    if len(windows) == 1:
        return permutation(samples, Stream(seed, "data.order"), epoch)
    out = []
    for number, of in enumerate(windows):
        members = [s for b in of for s in range(starts[b], starts[b + 1])]
        ordered = [0] * len(members)
        for row, place in enumerate(row_places(len(members), seed, epoch, number)):
            ordered[place] = members[row]
        out += ordered
    return out


with open("order.txt", "w") as file:
    for case in [(1000, 64, 300, 7, 0), (1000, 64, 300, 7, 3), (997, 10, 123, 0, 1),
                 (50, 7, 64, 5, 2), (40, 9, 5, 18446744073709551615, 1)]:
        numbers = order(*case)
        assert sorted(numbers) == list(range(case[0]))
        print(*case, *numbers, file=file)
