# SPDX-License-Identifier: Apache-2.0
"""Writes vae.json and vae_conv.json with their arrays: ten training steps of two small variational
autoencoders in PyTorch, on the noise that the engine draws.

    python3 generate_vae.py        # needs torch and numpy

The noise is made here by an implementation of its own of Philox4x32-10 (Salmon et al. 2011) with
the keys that kernels/philox.h documents, so that losses can be compared step by step. The layout of
the files is that of generate.py.
"""
import hashlib
import json
import pathlib

import numpy as np
import torch
import torch.nn.functional as F

from generate import Arrays, HERE, STEPS, config, conv, initial

SEED, BATCH, LATENT, BETA = 5, 8, 3, 0.7
MASK = (1 << 32) - 1


def philox(counter, key):
    c, k = list(counter), list(key)
    for _ in range(10):
        p0, p1 = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [(p1 >> 32) ^ c[1] ^ k[0], p1 & MASK, (p0 >> 32) ^ c[3] ^ k[1], p0 & MASK]
        k = [(k[0] + 0x9E3779B9) & MASK, (k[1] + 0xBB67AE85) & MASK]
    return c


def stream_hash(name):
    value = 0xCBF29CE484222325
    for byte in name.encode():
        value = (value ^ byte) * 0x100000001B3 % (1 << 64)
    return value


def noise(step, first_sample, shape, stream="latent"):
    """Normals of a stream for samples first_sample, first_sample + 1, ...: Box and Muller 1958."""
    key = SEED ^ stream_hash(stream)
    out = np.empty(shape)
    for i in range(out.size):
        index = first_sample * (out.size // shape[0]) + i
        words = philox((index & MASK, index >> 32, step, 0), (key & MASK, key >> 32))
        u, v = ((words[0] >> 8) + 1) * 2.0**-24, (words[1] >> 8) * 2.0**-24
        out.flat[i] = np.sqrt(-2 * np.log(u)) * np.cos(2 * np.pi * v)
    return torch.tensor(out.astype(np.float32))


def full(p, x, name):
    return x @ p[name + ".weight"] + p[name + ".bias"]


def grown(p, x, name, size):
    """The transpose of a convolution 3 x 3 of stride 2 that pads `size` to half of it."""
    w = p[name + ".weight"].permute(3, 2, 0, 1)  # [in, out, kh, kw]
    y = F.conv_transpose2d(x.permute(0, 3, 1, 2), w, stride=2)
    total = max((x.shape[1] - 1) * 2 + 3 - size, 0)
    low = total // 2
    return y[:, :, low:low + size, low:low + size].permute(0, 2, 3, 1) + p[name + ".bias"]


def forward(p, x, eps, sizes, channels, hidden):
    h = x
    for i in range(channels):
        n = f"encoder.convolutions.{i}"
        h = F.relu(conv(h, p[n + ".weight"], p[n + ".bias"], 2))
    h = h.flatten(1)
    for i in range(hidden):
        h = F.relu(full(p, h, f"encoder.layers.{i}"))
    mean, log_variance = full(p, h, "encoder.mean"), full(p, h, "encoder.log_variance")
    z = mean + torch.exp(0.5 * log_variance) * eps
    for i in range(hidden):
        z = F.relu(full(p, z, f"decoder.layers.{i}"))
    if channels == 0:
        return full(p, z, "decoder.output"), mean, log_variance
    z = F.relu(full(p, z, "decoder.spread")).view(-1, sizes[-1], sizes[-1],
                                                  p["decoder.spread.bias"].numel() // sizes[-1]**2)
    for i in range(channels - 1):
        z = F.relu(grown(p, z, f"decoder.convolutions.{i}", sizes[channels - 1 - i]))
    return grown(p, z, "decoder.output", sizes[0]).flatten(1), mean, log_variance


def dense(shapes, name, inputs, outputs):
    shapes[name + ".weight"], shapes[name + ".bias"] = (inputs, outputs), (outputs,)


def mlp_shapes(inputs, hidden):
    shapes = {}
    for i, (a, b) in enumerate(zip([inputs] + hidden, hidden)):
        dense(shapes, f"encoder.layers.{i}", a, b)
    dense(shapes, "encoder.mean", hidden[-1], LATENT)
    dense(shapes, "encoder.log_variance", hidden[-1], LATENT)
    back = [LATENT] + hidden[::-1]
    for i, (a, b) in enumerate(zip(back, back[1:])):
        dense(shapes, f"decoder.layers.{i}", a, b)
    dense(shapes, "decoder.output", hidden[0], inputs)
    return shapes


def conv_shapes(image, channels, hidden):
    shapes, sizes = {}, [image[0]]
    before = [image[2]] + channels
    for i, (a, b) in enumerate(zip(before, before[1:])):
        shapes[f"encoder.convolutions.{i}.weight"] = (3, 3, a, b)
        shapes[f"encoder.convolutions.{i}.bias"] = (b,)
        sizes.append((sizes[-1] + 1) // 2)
    flat = sizes[-1] ** 2 * channels[-1]
    dense(shapes, "encoder.layers.0", flat, hidden)
    dense(shapes, "encoder.mean", hidden, LATENT)
    dense(shapes, "encoder.log_variance", hidden, LATENT)
    dense(shapes, "decoder.layers.0", LATENT, hidden)
    dense(shapes, "decoder.spread", hidden, flat)
    for i in range(len(channels)):
        name = "decoder.output" if i == len(channels) - 1 else f"decoder.convolutions.{i}"
        a, b = before[len(channels) - i], before[len(channels) - i - 1]
        shapes[name + ".weight"], shapes[name + ".bias"] = (3, 3, b, a), (b,)
    return shapes, sizes


def cases():
    yield dict(name="vae", input=(4, 3, 1), shapes=mlp_shapes(12, [16, 9]), sizes=None,
               channels=0, hidden=2, likelihood="bernoulli", micro=8,
               model={"type": "vae", "hidden": [16, 9], "latent": LATENT})
    shapes, sizes = conv_shapes((7, 7, 2), [4, 5], 11)
    yield dict(name="vae_conv", input=(7, 7, 2), shapes=shapes, sizes=sizes, channels=2, hidden=1,
               likelihood="gaussian", micro=4,
               model={"type": "vae", "channels": [4, 5], "hidden": [11], "latent": LATENT})


def run(case, seed):
    rng = np.random.default_rng(seed)
    arrays, losses, norms, params = Arrays(), [], [], {}
    for name, shape in case["shapes"].items():
        value = initial(rng, name, shape).astype(np.float32)
        arrays.add("init/" + name, value)
        params[name] = torch.tensor(value, requires_grad=True)
    optimizer = torch.optim.Adam(params.values(), lr=0.01)
    parts = {"reconstruction": [], "divergence": []}
    for step in range(STEPS):
        x = rng.uniform(0, 1, (BATCH,) + case["input"]).astype(np.float32)
        arrays.add(f"inputs/{step}", x)
        arrays.add(f"targets/{step}", rng.integers(0, 4, (BATCH,)).astype(np.int32))
        eps = noise(step, step * BATCH, (BATCH, LATENT))
        optimizer.zero_grad()
        x = torch.tensor(x)
        output, mean, log_variance = forward(params, x, eps, case["sizes"], case["channels"],
                                             case["hidden"])
        flat = x.flatten(1)
        if case["likelihood"] == "bernoulli":
            cost = F.binary_cross_entropy_with_logits(output, flat, reduction="none").sum(1)
        else:
            cost = -torch.distributions.Normal(output, 1.0).log_prob(flat).sum(1)
        latent = torch.distributions.Normal(mean, torch.exp(0.5 * log_variance))
        unit = torch.distributions.Normal(torch.zeros_like(mean), torch.ones_like(mean))
        divergence = torch.distributions.kl_divergence(latent, unit).sum(1)
        loss = (cost + BETA * divergence).mean()
        loss.backward()
        norms.append(torch.sqrt(sum((v.grad.double() ** 2).sum() for v in params.values())).item())
        optimizer.step()
        losses.append(loss.item())
        parts["reconstruction"].append(cost.mean().item())
        parts["divergence"].append(divergence.mean().item())
    for name, value in params.items():
        arrays.add("final/" + name, value.detach().numpy())
    document = config(case["model"], {"type": "adam", "learning_rate": 0.01}, BATCH, case["micro"],
                      None, None)
    document["seed"] = SEED
    document["loss"] = {"type": "elbo", "beta": BETA, "likelihood": case["likelihood"]}
    script = pathlib.Path(__file__)
    document = {
        "torch": torch.__version__, "script": script.name,
        "script_sha256": hashlib.sha256(script.read_bytes()).hexdigest(), "config": document,
        "sample": {"input": list(case["input"]), "target": [], "classes": 4}, "losses": losses,
        "grad_norms": norms, "metrics": parts, "arrays": arrays.index}
    (HERE / f"{case['name']}.json").write_text(json.dumps(document, indent=1) + "\n")
    (HERE / f"{case['name']}.bin").write_bytes(bytes(arrays.bytes))
    print(case["name"], ["%.6f" % v for v in losses])


if __name__ == "__main__":
    for number, entry in enumerate(cases()):
        run(entry, 2000 + number)
