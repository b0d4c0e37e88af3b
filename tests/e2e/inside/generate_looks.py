# SPDX-License-Identifier: Apache-2.0
"""Writes looks.json: what PyTorch's layers make of one sample, and the weights of its attention.

    python3 generate_looks.py        # needs torch and numpy

Models, trained weights and samples are those of ../torch_oracle; layouts are the engine's. Weights of
attention are softmax(q k^T / sqrt(D) + mask), by head.
"""
import hashlib
import json
import math
import pathlib

import numpy as np
import torch
import torch.nn.functional as F

HERE = pathlib.Path(__file__).parent
ORACLE = HERE.parent / "torch_oracle"
torch.set_num_threads(1)
torch.backends.mkldnn.set_flags(False)  # its convolutions crash on very few channels


def attend(q, k, v, causal):
    """[T, H, D] each. The mixed values [T, H D] and the weights [H, T, S]."""
    q, k, v = (x.transpose(0, 1) for x in (q, k, v))
    scores = q @ k.transpose(1, 2) / math.sqrt(q.shape[-1])
    if causal:
        t = scores.shape[-1]
        scores = scores + torch.full((t, t), -math.inf).triu(1)
    weights = torch.softmax(scores, -1)
    return (weights @ v).transpose(0, 1).flatten(1), weights


def block(p, n, h, heads, causal, gelu, eps, layers, attention):
    width = h.shape[-1]
    norm = lambda x, name: F.layer_norm(x, (width,), p[name + ".weight"], p[name + ".bias"], eps)
    dense = lambda x, name: x @ p[name + ".weight"] + p[name + ".bias"]
    layers[n + "norm1"] = norm(h, n + "norm1")
    qkv = layers[n + "attention.qkv"] = dense(layers[n + "norm1"], n + "attention.qkv")
    parts = (x.reshape(len(h), heads, width // heads) for x in qkv.split(width, -1))
    mixed, attention[n + "attention"] = attend(*parts, causal)
    layers[n + "attention"] = mixed
    layers[n + "attention.output"] = dense(mixed, n + "attention.output")
    h = h + layers[n + "attention.output"]
    layers[n + "norm2"] = norm(h, n + "norm2")
    layers[n + "mlp.up"] = gelu(dense(layers[n + "norm2"], n + "mlp.up"))
    layers[n + "mlp.down"] = dense(layers[n + "mlp.up"], n + "mlp.down")
    layers[n[:-1]] = h + layers[n + "mlp.down"]
    return layers[n[:-1]]


def vit(p, x, layers, attention):
    size = p["patches.weight"].shape[0]
    kernel = p["patches.weight"].permute(3, 2, 0, 1)
    grid = F.conv2d(x.permute(2, 0, 1)[None], kernel, p["patches.bias"], stride=size)
    h = layers["patches"] = grid[0].flatten(1).T
    h = torch.cat((p["cls.weight"][None], h)) + p["positions.weight"]
    layers["positions"] = h
    for i in range(2):
        h = block(p, f"blocks.{i}.", h, 2, False, F.gelu, 1e-6, layers, attention)
    h = layers["norm"] = F.layer_norm(h[0], h.shape[1:], p["norm.weight"], p["norm.bias"], 1e-6)
    layers["head"] = h @ p["head.weight"] + p["head.bias"]


def gpt(p, x, layers, attention):
    tanh = lambda v: F.gelu(v, approximate="tanh")
    layers["wte"] = p["wte.weight"][x]
    h = layers["wte"] + p["wpe.weight"][:len(x)]
    for i in range(2):
        h = block(p, f"blocks.{i}.", h, 2, True, tanh, 1e-5, layers, attention)
    layers["norm"] = F.layer_norm(h, h.shape[1:], p["norm.weight"], p["norm.bias"], 1e-5)


def rotate(x, theta):
    """Rotary embedding as Hugging Face's Llama writes it; x [T, H, D]."""
    t, _, d = x.shape
    angle = torch.outer(torch.arange(t).float(), theta ** (-torch.arange(0, d, 2).float() / d))
    angle = torch.cat((angle, angle), -1)[:, None]
    half = torch.cat((-x[..., d // 2:], x[..., :d // 2]), -1)
    return x * angle.cos() + half * angle.sin()


def llama(p, x, layers, attention):
    h = layers["embedding"] = p["embedding.weight"][x]
    width, theta, heads, kv_heads = h.shape[-1], 100.0, 4, 2

    def norm(v, name):
        return v * torch.rsqrt(v.pow(2).mean(-1, keepdim=True) + 1e-5) * p[name + ".weight"]

    for i in range(2):
        n = f"blocks.{i}."
        z = layers[n + "norm1"] = norm(h, n + "norm1")
        q, k, v = ((z @ p[n + f"attention.{name}.weight"]).view(len(x), -1, width // heads)
                   for name in ("query", "key", "value"))
        k, v = (s.repeat_interleave(heads // kv_heads, 1) for s in (rotate(k, theta), v))
        mixed, attention[n + "attention"] = attend(rotate(q, theta), k, v, True)
        layers[n + "attention"] = mixed
        h = h + mixed @ p[n + "attention.output.weight"]
        z = norm(h, n + "norm2")
        inner = F.silu(z @ p[n + "mlp.gate.weight"]) * (z @ p[n + "mlp.up.weight"])
        h = layers[n[:-1]] = h + inner @ p[n + "mlp.down.weight"]


def conv(x, w, b, stride):
    """SAME padding: the odd element goes to the end. x is HWC, w [kh, kw, in, out]."""
    k, size = w.shape[0], x.shape[1]
    total = max((math.ceil(size / stride) - 1) * stride + k - size, 0)
    lo, hi = total // 2, total - total // 2
    x = F.pad(x.permute(2, 0, 1)[None], (lo, hi, lo, hi))
    return F.conv2d(x, w.permute(3, 2, 0, 1), b, stride=stride)[0].permute(1, 2, 0)


def cnn(p, x, layers, _):
    x = layers["layers.0"] = conv(x, p["layers.0.weight"], p["layers.0.bias"], 1)
    x = layers["layers.1"] = F.relu(x)
    x = layers["layers.2"] = F.max_pool2d(x.permute(2, 0, 1)[None], 2)[0].permute(1, 2, 0)
    x = layers["layers.3"] = conv(x, p["layers.3.weight"], p["layers.3.bias"], 2)
    # running statistics are as at the start of training: mean 0, variance 1
    x = x / math.sqrt(1 + 1e-5) * p["layers.4.weight"] + p["layers.4.bias"]
    layers["layers.4"] = x
    x = layers["layers.5"] = F.relu(x)
    x = layers["layers.6"] = x.mean((0, 1))
    layers["layers.7"] = x @ p["layers.7.weight"] + p["layers.7.bias"]


def look(name, forward):
    document = json.loads((ORACLE / f"{name}.json").read_text())
    data = (ORACLE / f"{name}.bin").read_bytes()

    def array(key):
        entry = document["arrays"][key]
        kind = {"f32": "<f4", "i32": "<i4"}[entry["dtype"]]
        count = int(np.prod(entry["shape"], dtype=int))
        return torch.tensor(np.frombuffer(data, kind, count, entry["offset"])
                            .reshape(entry["shape"]).copy())

    p = {key[6:]: array(key) for key in document["arrays"] if key.startswith("final/")}
    sample = array("inputs/0")[0]
    layers, attention = {}, {}
    forward(p, sample if sample.is_floating_point() else sample.long(), layers, attention)
    plain = lambda x: {"shape": list(x.shape),
                       "values": [float(f"{value:.7g}") for value in x.flatten().tolist()]}
    return {"layers": {key: plain(value) for key, value in layers.items()},
            "attention": {key: plain(value) for key, value in attention.items()}}


models = {"vit": vit, "gpt": gpt, "llama": llama, "cnn": cnn}
document = {"torch": torch.__version__,
            "script_sha256": hashlib.sha256(pathlib.Path(__file__).read_bytes()).hexdigest(),
            "models": {name: look(name, forward) for name, forward in models.items()}}
(HERE / "looks.json").write_text(json.dumps(document) + "\n")
