# SPDX-License-Identifier: Apache-2.0
"""Writes diffusion.json, diffusion_velocity.json and their arrays: ten training steps of a small
diffusion model in PyTorch on the times, noise and dropped classes that the engine draws, and samples
made by DDIM afterwards. The second predicts velocities, of patches of two by two pixels.

    python3 generate_diffusion.py        # needs torch and numpy

What is drawn comes from generate_vae.py's own implementation of the generator.
"""
import dataclasses
import hashlib
import json
import math
import pathlib

import numpy as np
import torch
import torch.nn.functional as F

from generate import Arrays, HERE, STEPS, config, initial
from generate_vae import BATCH, SEED, noise, philox, stream_hash

CHANNELS, GROUPS, TIMES, SAMPLING, CLASSES = [4, 6], 2, 20, 5, 4
DROPOUT, GUIDANCE, CLIP, LEAST = 0.3, 1.5, 1.0, 0.01


def uniform(step, first_sample, count, stream):
    key = SEED ^ stream_hash(stream)
    mask = (1 << 32) - 1
    words = [philox((i & mask, i >> 32, step, 0), (key & mask, key >> 32))[0]
             for i in range(first_sample, first_sample + count)]
    return np.array([(w >> 8) * 2.0**-24 for w in words])


@dataclasses.dataclass
class Kind:
    name: str
    image: tuple
    patch: int
    velocity: bool
    seed: int

    @property
    def folded(self):
        return self.patch**2 * self.image[2]


def shapes(kind):
    out, wide = {}, 4 * CHANNELS[0]

    def conv_of(name, kernel, a, b):
        out[name + ".weight"], out[name + ".bias"] = (kernel, kernel, a, b), (b,)

    def dense(name, a, b):
        out[name + ".weight"], out[name + ".bias"] = (a, b), (b,)

    def block(name, a, b):
        for norm, width in (("norm1", a), ("norm2", b)):
            out[f"{name}.{norm}.weight"] = out[f"{name}.{norm}.bias"] = (width,)
        conv_of(name + ".conv1", 3, a, b)
        dense(name + ".condition", wide, b)
        conv_of(name + ".conv2", 3, b, b)
        if a != b:
            conv_of(name + ".shortcut", 1, a, b)

    dense("condition.time", CHANNELS[0], wide)
    out["condition.label.weight"] = (CLASSES + 1, wide)
    dense("condition.mix", wide, wide)
    conv_of("stem", 3, kind.folded, CHANNELS[0])
    block("down.0.blocks.0", CHANNELS[0], CHANNELS[0])
    conv_of("down.1.shrink", 3, CHANNELS[0], CHANNELS[0])
    block("down.1.blocks.0", CHANNELS[0], CHANNELS[1])
    block("up.1.blocks.0", CHANNELS[1], CHANNELS[1])
    block("up.0.blocks.0", CHANNELS[1] + CHANNELS[0], CHANNELS[0])
    out["norm.weight"] = out["norm.bias"] = (CHANNELS[0],)
    conv_of("output", 3, CHANNELS[0], kind.folded)
    return out


def angle(times):
    return times * (math.pi / 2 - LEAST) / TIMES


def folded(x, p):
    """[B, H, W, C] -> [B, H/p, W/p, p p C]"""
    n, height, width, channels = x.shape
    x = x.reshape(n, height // p, p, width // p, p, channels).permute(0, 1, 3, 2, 4, 5)
    return x.reshape(n, height // p, width // p, p * p * channels)


def unfolded(x, p):
    n, height, width, channels = x.shape
    x = x.reshape(n, height, width, p, p, channels // p**2).permute(0, 1, 3, 2, 4, 5)
    return x.reshape(n, height * p, width * p, channels // p**2)


def network(kind, p, x, times, labels):
    """x [B, H, W, C], times and labels int64 [B]."""
    x = folded(x, kind.patch)
    height, width = x.shape[1:3]

    def dense(v, name):
        return v @ p[name + ".weight"] + p[name + ".bias"]

    def convolved(v, name, stride=1):
        return rectangular(v, p[name + ".weight"], p[name + ".bias"], stride)

    def norm(v, name):
        y = F.group_norm(v.permute(0, 3, 1, 2), GROUPS, p[name + ".weight"], p[name + ".bias"])
        return F.silu(y).permute(0, 2, 3, 1)

    def block(v, name):
        y = convolved(norm(v, name + ".norm1"), name + ".conv1")
        y = y + dense(told, name + ".condition")[:, None, None, :]
        y = convolved(norm(y, name + ".norm2"), name + ".conv2")
        return y + (convolved(v, name + ".shortcut") if name + ".shortcut.weight" in p else v)

    half = CHANNELS[0] // 2
    rates = torch.exp(-math.log(10000.0) * torch.arange(half, dtype=torch.float64) / half)
    turns = times.double()[:, None] * rates
    waves = torch.cat([turns.cos(), turns.sin()], 1).float()
    told = dense(waves, "condition.time") + p["condition.label.weight"][labels]
    told = F.silu(dense(F.silu(told), "condition.mix"))
    x = convolved(x, "stem")
    x = first = block(x, "down.0.blocks.0")
    x = block(convolved(x, "down.1.shrink", 2), "down.1.blocks.0")
    x = block(x, "up.1.blocks.0")
    x = F.interpolate(x.permute(0, 3, 1, 2), scale_factor=2, mode="nearest").permute(0, 2, 3, 1)
    x = torch.cat([x[:, :height, :width], first], 3)
    x = norm(block(x, "up.0.blocks.0"), "norm")
    return unfolded(convolved(x, "output"), kind.patch)


def rectangular(x, w, b, stride):
    """As `conv` of generate.py, height and width apart."""
    pads = []
    for size in (x.shape[2], x.shape[1]):  # F.pad counts from the last dimension
        total = max((math.ceil(size / stride) - 1) * stride + w.shape[0] - size, 0)
        pads += [total // 2, total - total // 2]
    x = F.pad(x.permute(0, 3, 1, 2), pads)
    w = w.permute(3, 2, 0, 1).contiguous()
    return F.conv2d(x, w, b, stride=stride).permute(0, 2, 3, 1)


def ddim(kind, p, x, labels):
    none = torch.full_like(labels, CLASSES)
    for k in range(SAMPLING):
        t = TIMES - k * TIMES // SAMPLING
        times = torch.full((len(x),), t)
        signal, level = math.cos(angle(t)), math.sin(angle(t))
        said = network(kind, p, x, times, none)
        said = said + GUIDANCE * (network(kind, p, x, times, labels) - said)
        sample = signal * x - level * said if kind.velocity else (x - level * said) / signal
        sample = sample.clamp(-CLIP, CLIP)
        said = (x - signal * sample) / level
        after = angle(t - TIMES // SAMPLING)
        x = math.cos(after) * sample + math.sin(after) * said
    return x


def run(kind):
    rng, image = np.random.default_rng(kind.seed), kind.image
    arrays, losses, norms, params = Arrays(), [], [], {}
    for name, shape in shapes(kind).items():
        value = initial(rng, name, shape).astype(np.float32)
        arrays.add("init/" + name, value)
        params[name] = torch.tensor(value, requires_grad=True)
    optimizer = torch.optim.Adam(params.values(), lr=0.01)
    for step in range(STEPS):
        x = rng.uniform(-1, 1, (BATCH,) + image).astype(np.float32)
        labels = rng.integers(0, CLASSES, (BATCH,))
        arrays.add(f"inputs/{step}", x)
        arrays.add(f"targets/{step}", labels.astype(np.int32))
        first = step * BATCH
        times = torch.tensor(1 + np.floor(TIMES * uniform(step, first, BATCH, "times")).astype(int))
        dropped = uniform(step, first, BATCH, "labels") < DROPOUT
        told = torch.tensor(np.where(dropped, CLASSES, labels))
        eps = noise(step, first, (BATCH,) + image, "noise")
        turned = angle(times.double())[:, None, None, None]
        signal, level, x = turned.cos().float(), turned.sin().float(), torch.tensor(x)
        wanted = signal * eps - level * x if kind.velocity else eps
        optimizer.zero_grad()
        said = network(kind, params, signal * x + level * eps, times, told)
        loss = ((said - wanted) ** 2).mean()
        loss.backward()
        norms.append(torch.sqrt(sum((v.grad.double() ** 2).sum() for v in params.values())).item())
        optimizer.step()
        losses.append(loss.item())
    for name, value in params.items():
        arrays.add("final/" + name, value.detach().numpy())
    latents = rng.normal(0, 1, (BATCH,) + image).astype(np.float32)
    labels = rng.integers(0, CLASSES, (BATCH,))
    with torch.no_grad():
        made = ddim(kind, params, torch.tensor(latents), torch.tensor(labels))
    arrays.add("latents", latents)
    arrays.add("labels", labels.astype(np.int32))
    arrays.add("samples", made.numpy())
    model = {"type": "diffusion", "channels": CHANNELS, "blocks": 1, "groups": GROUPS,
             "times": TIMES, "sampling_steps": SAMPLING, "label_dropout": DROPOUT,
             "guidance": GUIDANCE, "clip": CLIP, "patch": kind.patch,
             "predicts": "velocity" if kind.velocity else "noise"}
    document = config(model, {"type": "adam", "learning_rate": 0.01}, BATCH, 4, None, None)
    document["seed"] = SEED
    document["loss"] = {"type": "denoising"}
    script = pathlib.Path(__file__)
    document = {
        "torch": torch.__version__, "script": script.name,
        "script_sha256": hashlib.sha256(script.read_bytes()).hexdigest(), "config": document,
        "sample": {"input": list(image), "target": [], "classes": CLASSES}, "losses": losses,
        "grad_norms": norms, "arrays": arrays.index}
    (HERE / (kind.name + ".json")).write_text(json.dumps(document, indent=1) + "\n")
    (HERE / (kind.name + ".bin")).write_bytes(bytes(arrays.bytes))
    print(["%.6f" % v for v in losses], float(made.std()))


if __name__ == "__main__":
    run(Kind("diffusion", (5, 6, 1), 1, False, 2102))
    run(Kind("diffusion_velocity", (4, 6, 2), 2, True, 2101))
