#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Random transforms of images with other people's arithmetic: SciPy turns, colorsys knows hues. Draws
# are those of make_order.py. Writes transforms.json; run it in this folder (numpy, scipy).
import colorsys
import json
import math

import numpy as np
from scipy.ndimage import map_coordinates

from make_order import Stream

F = np.float32
SEED, HEIGHT, WIDTH = 7, 7, 9


class Chance:
    def __init__(self, name, epoch, sample):
        self.stream, self.epoch, self.sample, self.taken = Stream(SEED, f"data.0.{name}"), epoch, sample, 0

    def word(self):
        block = self.stream.block(self.epoch, self.sample + (self.taken // 4 << 56))
        self.taken += 1
        return block[(self.taken - 1) % 4]

    def share(self):
        return (self.word() >> 8) * 2.0**-24

    def uniform(self, low, high):
        return low + (high - low) * self.share()

    def below(self, bound):
        return self.word() * bound >> 32


def image(channels):
    count = HEIGHT * WIDTH * channels
    return (np.arange(count) * 37 % 101 / 100).reshape(HEIGHT, WIDTH, channels)


def rotation(x, chance, degrees=15.0, fill=0.0):
    angle = math.radians(chance.uniform(-degrees, degrees))
    y, z = np.mgrid[0:HEIGHT, 0:WIDTH].astype(float)
    down, across = y - (HEIGHT - 1) / 2, z - (WIDTH - 1) / 2
    # A point (across, down) goes, counter-clockwise with "down" downwards, to
    # (across cos + down sin, down cos - across sin); this is where it comes from.
    rows = (HEIGHT - 1) / 2 + math.sin(angle) * across + math.cos(angle) * down
    columns = (WIDTH - 1) / 2 + math.cos(angle) * across - math.sin(angle) * down
    planes = [map_coordinates(x[:, :, c], [rows, columns], order=1, mode="grid-constant", cval=fill)
              for c in range(x.shape[2])]
    return np.stack(planes, axis=2)


def jitter(x, chance, brightness=0.0, contrast=0.0, saturation=0.0, hue=0.0):
    factors = [chance.uniform(max(0.0, 1 - s), 1 + s) for s in (brightness, contrast, saturation)]
    turn = chance.uniform(-hue, hue)
    gray = lambda v: v @ np.array([0.299, 0.587, 0.114]) if v.shape[2] == 3 else v[:, :, 0]
    if brightness:
        x = np.clip(x * factors[0], 0, 1)
    if contrast:
        mean = gray(x).mean()
        x = np.clip(factors[1] * x + (1 - factors[1]) * mean, 0, 1)
    if saturation:
        x = np.clip(factors[2] * x + (1 - factors[2]) * gray(x)[:, :, None], 0, 1)
    if hue:
        out = np.empty_like(x)
        for i in np.ndindex(HEIGHT, WIDTH):
            h, s, v = colorsys.rgb_to_hsv(*x[i])
            out[i] = colorsys.hsv_to_rgb((h + turn) % 1.0, s, v)
        x = out
    return x


def erasing(x, chance, probability=0.5, area=(0.02, 0.33), ratio=(0.3, 3.3), value=0.0):
    x = x.copy()
    if chance.share() >= probability:
        return x
    for _ in range(10):
        size = chance.uniform(*area) * HEIGHT * WIDTH
        shape = math.exp(chance.uniform(math.log(ratio[0]), math.log(ratio[1])))
        high, wide = round(math.sqrt(size * shape)), round(math.sqrt(size / shape))
        if 1 <= high < HEIGHT and 1 <= wide < WIDTH:
            top, left = chance.below(HEIGHT - high + 1), chance.below(WIDTH - wide + 1)
            x[top:top + high, left:left + wide] = value
            return x
    return x


CASES = [
    ("random_rotation", rotation, 3, {}),
    ("random_rotation", rotation, 1, {"degrees": 180.0, "fill": 0.5}),
    ("color_jitter", jitter, 3, {"brightness": 0.4}),
    ("color_jitter", jitter, 1, {"brightness": 0.2, "contrast": 0.5}),
    ("color_jitter", jitter, 3, {"contrast": 0.5, "saturation": 0.7}),
    ("color_jitter", jitter, 3, {"hue": 0.5}),
    ("color_jitter", jitter, 3, {"brightness": 0.4, "contrast": 0.4, "saturation": 0.4, "hue": 0.1}),
    ("random_erasing", erasing, 3, {}),
    ("random_erasing", erasing, 1, {"probability": 1.0, "area": [0.1, 0.6], "value": 0.25}),
]


def main():
    out = []
    for name, function, channels, settings in CASES:
        for sample, epoch in ((0, 0), (1, 0), (70000, 3)):
            values = function(image(channels), Chance(name, epoch, sample), **settings)
            out.append({"transform": {"type": name, **settings}, "channels": channels, "sample": sample,
                        "epoch": epoch, "expected": [round(float(v), 6) for v in values.ravel()]})
    with open("transforms.json", "w") as file:
        file.write("[\n" + ",\n".join(json.dumps(case) for case in out) + "\n]\n")


if __name__ == "__main__":
    main()
