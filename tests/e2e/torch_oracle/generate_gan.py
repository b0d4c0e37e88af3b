# SPDX-License-Identifier: Apache-2.0
"""Writes gan.json, gan_hinge.json and gan_wasserstein.json with their arrays: ten training steps of
small adversarial networks in PyTorch on the latents that the engine draws, both networks trained in
every step by the weights that both had before it, each by an optimizer of its own. Samples made by
the generator afterwards, with its running statistics. The one of hinge knows of no classes.

    python3 generate_gan.py        # needs torch and numpy

What is drawn comes from generate_vae.py's own implementation of the generator of random numbers.
"""
import hashlib
import json
import math
import pathlib

import numpy as np
import torch
import torch.nn.functional as F

from generate import Arrays, HERE, STEPS, config, initial
from generate_diffusion import uniform
from generate_vae import BATCH, full, noise

IMAGE, CHANNELS, LATENT, CLASSES = (6, 7, 2), [3, 5], 4, 4
RATE, RATE_OF_DISCRIMINATOR = 0.004, 0.002
SIZES = [IMAGE[:2], (3, 4), (2, 2)]


def shapes(classes):
    flat = SIZES[-1][0] * SIZES[-1][1] * CHANNELS[-1]
    out = {"generator.spread.weight": (LATENT, flat), "generator.spread.bias": (flat,)}
    for name, width in (("spread", CHANNELS[1]), ("convolutions.0", CHANNELS[0])):
        out[f"generator.{name}.norm.weight"] = out[f"generator.{name}.norm.bias"] = (width,)
    out["generator.convolutions.0.weight"] = (4, 4, CHANNELS[0], CHANNELS[1])
    out["generator.output.weight"] = (4, 4, IMAGE[2], CHANNELS[0])
    out["generator.output.bias"] = (IMAGE[2],)
    before = [IMAGE[2]] + CHANNELS
    for i, (a, b) in enumerate(zip(before, before[1:])):
        out[f"discriminator.convolutions.{i}.weight"] = (4, 4, a, b)
        out[f"discriminator.convolutions.{i}.bias"] = (b,)
    out["discriminator.output.weight"], out["discriminator.output.bias"] = (flat, 1), (1,)
    if classes:
        out["generator.spread.label.weight"] = (classes + 1, flat)
        out["discriminator.output.label.weight"] = (classes + 1, flat)
    return out


def pads(size):
    """Of a window of 4 and stride 2 that gives ceil(size / 2) points, the odd one at the end."""
    total = max((math.ceil(size / 2) - 1) * 2 + 4 - size, 0)
    return total // 2, total - total // 2


def discriminate(p, x, labels):
    x = x.permute(0, 3, 1, 2)
    for i in range(len(CHANNELS)):
        n = f"discriminator.convolutions.{i}"
        x = F.pad(x, pads(x.shape[3]) + pads(x.shape[2]))
        x = F.conv2d(x, p[n + ".weight"].permute(3, 2, 0, 1), p[n + ".bias"], stride=2)
        x = F.leaky_relu(x, 0.2)
    x = x.permute(0, 2, 3, 1).flatten(1)
    score = full(p, x, "discriminator.output")[:, 0]
    table = p.get("discriminator.output.label.weight")
    return score if table is None else score + (x * table[labels]).sum(1)


def grown(p, x, name, size):
    y = F.conv_transpose2d(x, p[name + ".weight"].permute(3, 2, 0, 1), stride=2)
    top, left = pads(size[0])[0], pads(size[1])[0]
    return y[:, :, top:top + size[0], left:left + size[1]]


def generate(p, statistics, z, labels, last, training=True):
    def norm(v, name):
        n = f"generator.{name}.norm"
        return F.relu(F.batch_norm(v, statistics[n + ".running_mean"],
                                   statistics[n + ".running_variance"], p[n + ".weight"],
                                   p[n + ".bias"], training=training, momentum=0.1, eps=1e-5))

    x = full(p, z, "generator.spread")
    table = p.get("generator.spread.label.weight")
    x = x if table is None else x + table[labels]
    x = x.view(-1, *SIZES[-1], CHANNELS[-1]).permute(0, 3, 1, 2)
    x = norm(x, "spread")
    x = norm(grown(p, x, "generator.convolutions.0", SIZES[1]), "convolutions.0")
    x = grown(p, x, "generator.output", SIZES[0]).permute(0, 2, 3, 1) + p["generator.output.bias"]
    return last(x)


def objectives(kind, real, fake):
    """Of the discriminator and of the generator."""
    ones, zeros = torch.ones_like(real), torch.zeros_like(real)
    bce = F.binary_cross_entropy_with_logits
    if kind == "non_saturating":
        return bce(real, ones) + bce(fake, zeros), bce(fake, ones)
    if kind == "hinge":
        return (F.relu(1 - real) + F.relu(1 + fake)).mean(), -fake.mean()
    return (fake - real).mean(), -fake.mean()


def slope_penalty(p, x, made, labels, step, weight):
    part = torch.tensor(uniform(step, step * BATCH, BATCH, "between").astype(np.float32))
    part = part[:, None, None, None]
    between = part * x + (1 - part) * made
    slope, = torch.autograd.grad(discriminate(p, between, labels).sum(), between, create_graph=True)
    return weight * ((slope.flatten(1).norm(dim=1) - 1) ** 2).mean()


def run(name, kind, weight, last, seed, classes=CLASSES):
    rng = np.random.default_rng(seed)
    arrays, losses, norms, params = Arrays(), [], [], {}
    for key, shape in shapes(classes).items():
        value = initial(rng, key, shape).astype(np.float32)
        arrays.add("init/" + key, value)
        params[key] = torch.tensor(value, requires_grad=True)
    statistics = {}
    for layer, width in (("spread", CHANNELS[1]), ("convolutions.0", CHANNELS[0])):
        statistics[f"generator.{layer}.norm.running_mean"] = torch.zeros(width)
        statistics[f"generator.{layer}.norm.running_variance"] = torch.ones(width)
    for key, value in statistics.items():
        arrays.add("init/" + key, value.numpy())
    own = {side: {k: v for k, v in params.items() if k.startswith(side)}
           for side in ("generator", "discriminator")}
    of_generator = torch.optim.Adam(own["generator"].values(), lr=RATE, betas=(0.5, 0.999))
    of_discriminator = torch.optim.RMSprop(own["discriminator"].values(),
                                           lr=RATE_OF_DISCRIMINATOR, alpha=0.9, eps=1e-8)
    parts = {"generator_loss": [], "discriminator_loss": [], "real_score": [], "fake_score": []}
    function = {"sigmoid": torch.sigmoid, "tanh": torch.tanh, "none": lambda v: v}[last]
    for step in range(STEPS):
        x = rng.uniform(0, 1, (BATCH,) + IMAGE).astype(np.float32)
        arrays.add(f"inputs/{step}", x)
        labels = torch.tensor(rng.integers(0, CLASSES, (BATCH,)))
        arrays.add(f"targets/{step}", labels.numpy().astype(np.int32))
        x = torch.tensor(x)
        z = noise(step, step * BATCH, (BATCH, LATENT), "latent")
        made = generate(params, statistics, z, labels, function)
        real, fake = discriminate(params, x, labels), discriminate(params, made, labels)
        apart, together = objectives(kind, real, fake)
        if weight > 0:
            apart = apart + slope_penalty(params, x, made, labels, step, weight)
        # Both by the same weights, before either changes.
        back = {}
        for side, loss in (("discriminator", apart), ("generator", together)):
            found = torch.autograd.grad(loss, list(own[side].values()), retain_graph=True)
            back.update(zip(own[side], found))
        for key, gradient in back.items():
            params[key].grad = gradient
        of_generator.step()
        of_discriminator.step()
        norms.append(math.sqrt(sum((g.double() ** 2).sum().item() for g in back.values())))
        losses.append((apart + together).item())
        said = torch.sigmoid if kind == "non_saturating" else (lambda v: v)
        for key, value in (("generator_loss", together), ("discriminator_loss", apart),
                           ("real_score", said(real).mean()), ("fake_score", said(fake).mean())):
            parts[key].append(value.item())
    for key, value in list(params.items()) + list(statistics.items()):
        arrays.add("final/" + key, value.detach().numpy())
    latents = rng.normal(0, 1, (BATCH, LATENT)).astype(np.float32)
    labels = torch.tensor(rng.integers(0, CLASSES, (BATCH,)))
    with torch.no_grad():
        samples = generate(params, statistics, torch.tensor(latents), labels, function,
                           training=False)
    arrays.add("latents", latents)
    if classes:
        arrays.add("labels", labels.numpy().astype(np.int32))
    arrays.add("samples", samples.contiguous().numpy())
    model = {"type": "gan", "channels": CHANNELS, "latent": LATENT, "output": last,
             "gradient_penalty": weight}
    optimizer = {"type": "adam", "learning_rate": RATE, "betas": [0.5, 0.999], "groups": [
        {"match": "discriminator.*", "type": "rmsprop", "learning_rate": RATE_OF_DISCRIMINATOR,
         "decay": 0.9, "eps": 1e-8}]}
    document = config(model, optimizer, BATCH, BATCH, None, None)
    document["seed"] = 5
    document["loss"] = {"type": "adversarial", "kind": kind}
    script = pathlib.Path(__file__)
    document = {
        "torch": torch.__version__, "script": script.name,
        "script_sha256": hashlib.sha256(script.read_bytes()).hexdigest(), "config": document,
        "sample": {"input": list(IMAGE), "target": [], "classes": classes}, "losses": losses,
        "grad_norms": norms, "metrics": parts, "arrays": arrays.index}
    (HERE / f"{name}.json").write_text(json.dumps(document, indent=1) + "\n")
    (HERE / f"{name}.bin").write_bytes(bytes(arrays.bytes))
    print(name, ["%.6f" % v for v in losses])


if __name__ == "__main__":
    run("gan", "non_saturating", 0.0, "sigmoid", 2200)
    run("gan_hinge", "hinge", 0.0, "none", 2201, classes=0)
    run("gan_wasserstein", "wasserstein", 10.0, "tanh", 2202)
