#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Samples mixed as the papers say, in numpy and in double: mixup (Zhang et al. 2018) and CutMix (Yun et al.
# 2019, the box of their program). Draws and order are those of make_order.py. Writes mixing.json; run it in
# this folder (numpy).
import json
import math

import numpy as np

from make_order import Stream, permutation

SEED, SAMPLES, EPOCH = 7, 50, 3
SHAPE = (5, 6, 2)


class Chance:
    def __init__(self, position):
        self.stream, self.position, self.taken = Stream(SEED, "data.mix"), position, 0

    def word(self):
        block = self.stream.block(EPOCH, self.position + (self.taken // 4 << 56))
        self.taken += 1
        return block[(self.taken - 1) % 4]

    def below(self, bound):
        return self.word() * bound >> 32


def image(sample):
    return ((np.arange(60) * 37 + sample * 11) % 101 / 100).reshape(SHAPE)


def beta(alpha, chance):
    """Student's t with 2 alpha degrees (Bailey 1994), as a number of Beta(alpha, alpha)."""
    u, v = ((chance.word() >> 8) + 1) * 2.0**-24, (chance.word() >> 8) * 2.0**-24
    t = math.sqrt(2 * alpha * (u ** (-1 / alpha) - 1)) * math.cos(2 * math.pi * v)
    return 0.5 + t / (2 * math.sqrt(2 * alpha + t * t))


def mixed(kinds, position, order):
    chance, own = Chance(position), order[position]
    kind = kinds[chance.below(len(kinds))]
    x, label = image(own), own % 4
    if (chance.word() >> 8) * 2.0**-24 >= kind["probability"]:
        return x, label, label, 1.0
    other = order[(chance.word() << 32 | chance.word()) % SAMPLES]
    share, y = beta(kind["alpha"], chance), image(other)
    if kind["type"] == "mixup":
        x = share * x + (1 - share) * y
    else:
        h, w = SHAPE[:2]
        row, column = chance.below(h), chance.below(w)
        high, wide = int(h * math.sqrt(1 - share)), int(w * math.sqrt(1 - share))
        top, bottom = np.clip([row - high // 2, row + high // 2], 0, h)
        left, right = np.clip([column - wide // 2, column + wide // 2], 0, w)
        x = x.copy()
        x[top:bottom, left:right] = y[top:bottom, left:right]
        share = 1 - (bottom - top) * (right - left) / (h * w)
    if share >= 0.5:
        return x, label, other % 4, share
    return x, other % 4, label, 1 - share


KINDS = [
    [{"type": "mixup", "alpha": 0.2, "probability": 1.0}],
    [{"type": "mixup", "alpha": 8.0, "probability": 0.5}],
    [{"type": "cutmix", "alpha": 1.0, "probability": 1.0}],
    [{"type": "mixup", "alpha": 1.0, "probability": 1.0}, {"type": "cutmix", "alpha": 0.5, "probability": 0.8}],
]


def main():
    order, out = permutation(SAMPLES, Stream(SEED, "data.order"), EPOCH), []
    for kinds in KINDS:
        for position in range(8):
            x, label, other, share = mixed(kinds, position, order)
            out.append({"mix": kinds, "position": position, "class": label, "other": other,
                        "share": round(float(share), 6),
                        "expected": [round(float(v), 5) for v in x.ravel()]})
    with open("mixing.json", "w") as file:
        file.write("[\n" + ",\n".join(json.dumps(case) for case in out) + "\n]\n")


if __name__ == "__main__":
    main()
