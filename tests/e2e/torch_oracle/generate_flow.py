# SPDX-License-Identifier: Apache-2.0
"""Writes flow.json and flow_pictures.json with their arrays: ten training steps of small normalising
flows in PyTorch, and samples made by the inverse afterwards. Of pictures the levels are spread by
what the engine draws; the logit and its density come from torch.distributions.

    python3 generate_flow.py        # needs torch and numpy

What is drawn comes from generate_vae.py's own implementation of the generator of random numbers.
"""
import hashlib
import json
import math
import pathlib

import numpy as np
import torch
import torch.nn.functional as F
from torch.distributions import Normal
from torch.distributions.transforms import AffineTransform, SigmoidTransform

from generate import Arrays, HERE, STEPS, config, initial
from generate_diffusion import uniform
from generate_vae import BATCH, full

COUPLINGS, HIDDEN, CLASSES, TEMPERATURE, MARGIN, BOUND = 5, [9, 7], 4, 0.8, 0.05, 2.0


def shapes(size):
    out = {}
    for i in range(COUPLINGS):
        n = f"couplings.{i}."
        widths = [size // 2] + HIDDEN
        for k, (a, b) in enumerate(zip(widths, widths[1:])):
            out[f"{n}layers.{k}.weight"], out[f"{n}layers.{k}.bias"] = (a, b), (b,)
            if k == 0:
                out[f"{n}label.weight"] = (CLASSES + 1, b)
        for name in ("scale", "move"):
            out[n + name + ".weight"], out[n + name + ".bias"] = (HIDDEN[-1], size // 2), (size // 2,)
    return out


def said(p, kept, i, labels):
    n = f"couplings.{i}."
    h = F.relu(full(p, kept, n + "layers.0") + p[n + "label.weight"][labels])
    h = F.relu(full(p, h, n + "layers.1"))
    return BOUND * torch.tanh(full(p, h, n + "scale") / BOUND), full(p, h, n + "move")


def order(size, i):
    """Where the values of a coupling come from when it is done: every second one parts neighbours."""
    if i % 2 == 0 or i + 1 == COUPLINGS:
        return torch.arange(size)
    return torch.cat([torch.arange(0, size, 2), torch.arange(1, size, 2)])


def forward(p, x, labels):
    size, log_det = x.shape[1], torch.zeros(len(x))
    for i in range(COUPLINGS):
        halves = list(x.chunk(2, 1))
        scale, move = said(p, halves[i % 2], i, labels)
        halves[1 - i % 2] = halves[1 - i % 2] * scale.exp() + move
        log_det = log_det + scale.sum(1)
        x = torch.cat(halves, 1)[:, order(size, i)]
    return x, log_det


def backward(p, z, labels):
    for i in reversed(range(COUPLINGS)):
        back = torch.empty_like(z)
        back[:, order(z.shape[1], i)] = z
        halves = list(back.chunk(2, 1))
        scale, move = said(p, halves[i % 2], i, labels)
        halves[1 - i % 2] = (halves[1 - i % 2] - move) * torch.exp(-scale)
        z = torch.cat(halves, 1)
    return z


# From latents of the couplings to values from 0 to 1.
TO_UNIT = [SigmoidTransform(), AffineTransform(-MARGIN / (1 - 2 * MARGIN), 1 / (1 - 2 * MARGIN))]


def cost(p, x, labels, levels, step):
    """-log p of each sample, of the whole level where there are levels."""
    more = torch.zeros(len(x))
    if levels is not None:
        size = x.shape[1]
        part = uniform(step, step * BATCH * size, BATCH * size, "level").reshape(BATCH, size)
        x = (x * (levels - 1) + torch.tensor(part.astype(np.float32))) / levels
        for transform in reversed(TO_UNIT):
            before = transform.inv(x)
            more = more - transform.log_abs_det_jacobian(before, x).expand(x.shape).sum(1)
            x = before
        more = more - size * math.log(levels)
    z, log_det = forward(p, x, labels)
    return -(Normal(0.0, 1.0).log_prob(z).sum(1) + log_det + more)


def run(name, image, levels, seed):
    rng = np.random.default_rng(seed)
    arrays, losses, norms, params = Arrays(), [], [], {}
    size = math.prod(image)
    for key, shape in shapes(size).items():
        size_of = 0.3 if any(n in key for n in ("scale", "move", "label")) else 1.0
        value = (size_of * initial(rng, key, shape)).astype(np.float32)
        arrays.add("init/" + key, value)
        params[key] = torch.tensor(value, requires_grad=True)
    optimizer = torch.optim.Adam(params.values(), lr=0.003)
    bits = []
    for step in range(STEPS):
        if levels is None:
            x = rng.normal(0, 1, (BATCH,) + image)
        else:
            x = rng.integers(0, levels, (BATCH,) + image) / (levels - 1)
        x = x.astype(np.float32)
        labels = rng.integers(0, CLASSES, (BATCH,))
        arrays.add(f"inputs/{step}", x)
        arrays.add(f"targets/{step}", labels.astype(np.int32))
        optimizer.zero_grad()
        loss = cost(params, torch.tensor(x).flatten(1), torch.tensor(labels), levels, step).mean()
        loss.backward()
        norms.append(torch.sqrt(sum((v.grad.double() ** 2).sum() for v in params.values())).item())
        optimizer.step()
        losses.append(loss.item())
        bits.append(loss.item() / (size * math.log(2)))
    for key, value in params.items():
        arrays.add("final/" + key, value.detach().numpy())
    latents = rng.normal(0, 1, (BATCH, size)).astype(np.float32)
    labels = rng.integers(0, CLASSES, (BATCH,))
    with torch.no_grad():
        samples = backward(params, TEMPERATURE * torch.tensor(latents), torch.tensor(labels))
        for transform in TO_UNIT if levels is not None else []:
            samples = transform(samples)
    arrays.add("latents", latents)
    arrays.add("labels", labels.astype(np.int32))
    arrays.add("samples", samples.numpy())
    model = {"type": "flow", "couplings": COUPLINGS, "hidden": HIDDEN, "levels": levels,
             "temperature": TEMPERATURE}
    document = config(model, {"type": "adam", "learning_rate": 0.003}, BATCH, 4, None, None)
    document["seed"] = 5
    document["loss"] = {"type": "negative_log_likelihood"}
    script = pathlib.Path(__file__)
    document = {
        "torch": torch.__version__, "script": script.name,
        "script_sha256": hashlib.sha256(script.read_bytes()).hexdigest(), "config": document,
        "sample": {"input": list(image), "target": [], "classes": CLASSES}, "losses": losses,
        "grad_norms": norms, "metrics": {"bits_per_dimension": bits}, "arrays": arrays.index}
    (HERE / f"{name}.json").write_text(json.dumps(document, indent=1) + "\n")
    (HERE / f"{name}.bin").write_bytes(bytes(arrays.bytes))
    print(name, ["%.6f" % v for v in losses])


if __name__ == "__main__":
    run("flow", (10,), None, 2300)
    run("flow_pictures", (4, 3, 1), 16, 2301)
