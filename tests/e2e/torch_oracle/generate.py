# SPDX-License-Identifier: Apache-2.0
"""Writes the reference figures of torch_oracle: ten training steps of six small models in PyTorch.

    python3 generate.py        # needs torch and numpy; rewrites *.json and *.bin beside this file

Each model gets one JSON file (run configuration, losses, index of arrays, torch version, SHA-256 of
this script) and one little-endian binary file (initial weights, batches, final weights and running
statistics). Weights have
the names and layouts of the engine: linear [in, out], convolution [kh, kw, in, out], images NHWC.
Everything is f32 on one thread.
"""
import hashlib
import json
import math
import pathlib

import numpy as np
import torch
import torch.nn.functional as F

HERE = pathlib.Path(__file__).parent
STEPS = 10
torch.set_num_threads(1)
torch.use_deterministic_algorithms(True)
torch.backends.mkldnn.set_flags(False)  # its convolutions crash on very few channels


class Arrays:
    """The binary file: arrays one after another, with an index."""

    def __init__(self):
        self.index, self.bytes = {}, bytearray()

    def add(self, name, array):
        kind = {"f": "f32", "i": "i32"}[array.dtype.kind]
        data = np.ascontiguousarray(array.astype({"f32": "<f4", "i32": "<i4"}[kind])).tobytes()
        self.index[name] = {"dtype": kind, "shape": list(array.shape), "offset": len(self.bytes)}
        self.bytes += data


def rate(schedule, base, count):
    """Optax's warmup_cosine over STEPS with the count before the update (FACTS C)."""
    if schedule is None:
        return base
    warmup, end = schedule["warmup_steps"], schedule["end_factor"]
    if count < warmup:
        return base * count / warmup
    share = min(count - warmup, STEPS - warmup) / (STEPS - warmup)
    return base * ((1 - end) * 0.5 * (1 + math.cos(math.pi * share)) + end)


def mlp(p, x):
    for i in range(2):
        x = F.relu(x @ p[f"layers.{i}.weight"] + p[f"layers.{i}.bias"])
    return x @ p["layers.2.weight"] + p["layers.2.bias"]


def conv(x, w, b, stride):
    """SAME padding as TensorFlow and XLA define it: the odd element goes to the end."""
    k, size = w.shape[0], x.shape[1]
    total = max((math.ceil(size / stride) - 1) * stride + k - size, 0)
    lo, hi = total // 2, total - total // 2
    x = F.pad(x.permute(0, 3, 1, 2), (lo, hi, lo, hi))
    return F.conv2d(x, w.permute(3, 2, 0, 1), b, stride=stride).permute(0, 2, 3, 1)


def cnn(p, x):
    x = F.relu(conv(x, p["layers.0.weight"], p["layers.0.bias"], 1))
    x = F.max_pool2d(x.permute(0, 3, 1, 2), 2).permute(0, 2, 3, 1)
    x = conv(x, p["layers.3.weight"], p["layers.3.bias"], 2)
    mean, var = x.mean((0, 1, 2)), x.var((0, 1, 2), unbiased=False)
    x = (x - mean) / torch.sqrt(var + 1e-5) * p["layers.4.weight"] + p["layers.4.bias"]
    return F.relu(x).mean((1, 2)) @ p["layers.7.weight"] + p["layers.7.bias"]


def gpt(p, x, layers=2, heads=2):
    b, t = x.shape
    h = p["wte.weight"][x] + p["wpe.weight"][:t]
    width = h.shape[-1]
    norm = lambda v, name: F.layer_norm(v, (width,), p[name + ".weight"], p[name + ".bias"], 1e-5)
    lin = lambda v, name: v @ p[name + ".weight"] + p[name + ".bias"]
    for i in range(layers):
        n = f"blocks.{i}."
        q, k, v = lin(norm(h, n + "norm1"), n + "attention.qkv").split(width, -1)
        q, k, v = (z.view(b, t, heads, width // heads).transpose(1, 2) for z in (q, k, v))
        a = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        h = h + lin(a.transpose(1, 2).reshape(b, t, width), n + "attention.output")
        h = h + lin(F.gelu(lin(norm(h, n + "norm2"), n + "mlp.up"), approximate="tanh"), n + "mlp.down")
    return norm(h, "norm") @ p["wte.weight"].T


def gpt_shapes(layers, width, vocab, context):
    shapes = {"wte.weight": (vocab, width), "wpe.weight": (context, width)}
    for i in range(layers):
        n = f"blocks.{i}."
        for name, a, b in (("attention.qkv", width, 3 * width), ("attention.output", width, width),
                           ("mlp.up", width, 4 * width), ("mlp.down", 4 * width, width)):
            shapes[n + name + ".weight"], shapes[n + name + ".bias"] = (a, b), (b,)
        for name in ("norm1", "norm2"):
            shapes[n + name + ".weight"] = shapes[n + name + ".bias"] = (width,)
    shapes["norm.weight"] = shapes["norm.bias"] = (width,)
    return shapes


def rotate(x, theta):
    """Rotary embedding as Hugging Face's Llama writes it; x [B, H, T, D]."""
    t, d = x.shape[-2:]
    angle = torch.outer(torch.arange(t).float(), theta ** (-torch.arange(0, d, 2).float() / d))
    angle = torch.cat((angle, angle), -1)
    half = torch.cat((-x[..., d // 2:], x[..., :d // 2]), -1)
    return x * angle.cos() + half * angle.sin()


def llama(p, x, layers=2, heads=4, kv_heads=2, theta=100.0):
    b, t = x.shape
    h = p["embedding.weight"][x]
    width = h.shape[-1]

    def norm(v, name):
        return v * torch.rsqrt(v.pow(2).mean(-1, keepdim=True) + 1e-5) * p[name + ".weight"]

    for i in range(layers):
        n = f"blocks.{i}."
        z = norm(h, n + "norm1")
        q, k, v = ((z @ p[n + f"attention.{name}.weight"]).view(b, t, -1, width // heads)
                   .transpose(1, 2) for name in ("query", "key", "value"))
        k, v = (s.repeat_interleave(heads // kv_heads, 1) for s in (rotate(k, theta), v))
        a = F.scaled_dot_product_attention(rotate(q, theta), k, v, is_causal=True)
        h = h + a.transpose(1, 2).reshape(b, t, width) @ p[n + "attention.output.weight"]
        z = norm(h, n + "norm2")
        inner = F.silu(z @ p[n + "mlp.gate.weight"]) * (z @ p[n + "mlp.up.weight"])
        h = h + inner @ p[n + "mlp.down.weight"]
    return norm(h, "norm") @ p["head.weight"]


def llama_shapes(layers, width, kv_width, ffn, vocab):
    shapes = {"embedding.weight": (vocab, width)}
    for i in range(layers):
        n = f"blocks.{i}."
        for name, a, b in (("attention.query", width, width), ("attention.key", width, kv_width),
                           ("attention.value", width, kv_width),
                           ("attention.output", width, width), ("mlp.gate", width, ffn),
                           ("mlp.up", width, ffn), ("mlp.down", ffn, width)):
            shapes[n + name + ".weight"] = (a, b)
        shapes[n + "norm1.weight"] = shapes[n + "norm2.weight"] = (width,)
    shapes["norm.weight"] = (width,)
    shapes["head.weight"] = (width, vocab)
    return shapes


def vit(p, x, layers=2, heads=2, patch=4):
    weight = p["patches.weight"].permute(3, 2, 0, 1)
    grid = F.conv2d(x.permute(0, 3, 1, 2), weight, p["patches.bias"], stride=patch)
    h = grid.flatten(2).transpose(1, 2)
    b, _, width = h.shape
    h = torch.cat((p["cls.weight"].expand(b, 1, width), h), 1) + p["positions.weight"]
    norm = lambda v, name: F.layer_norm(v, (width,), p[name + ".weight"], p[name + ".bias"], 1e-6)
    lin = lambda v, name: v @ p[name + ".weight"] + p[name + ".bias"]
    for i in range(layers):
        n = f"blocks.{i}."
        q, k, v = lin(norm(h, n + "norm1"), n + "attention.qkv").split(width, -1)
        q, k, v = (z.view(b, -1, heads, width // heads).transpose(1, 2) for z in (q, k, v))
        a = F.scaled_dot_product_attention(q, k, v)
        h = h + lin(a.transpose(1, 2).reshape(b, -1, width), n + "attention.output")
        h = h + lin(F.gelu(lin(norm(h, n + "norm2"), n + "mlp.up")), n + "mlp.down")
    return lin(norm(h, "norm")[:, 0], "head")


def vit_shapes(layers, width, mlp_width, patch, channels, tokens, classes):
    shapes = {"patches.weight": (patch, patch, channels, width), "patches.bias": (width,),
              "cls.weight": (width,), "positions.weight": (tokens, width)}
    for i in range(layers):
        n = f"blocks.{i}."
        for name, a, b in (("attention.qkv", width, 3 * width), ("attention.output", width, width),
                           ("mlp.up", width, mlp_width), ("mlp.down", mlp_width, width)):
            shapes[n + name + ".weight"], shapes[n + name + ".bias"] = (a, b), (b,)
        for name in ("norm1", "norm2"):
            shapes[n + name + ".weight"] = shapes[n + name + ".bias"] = (width,)
    shapes["norm.weight"] = shapes["norm.bias"] = (width,)
    shapes["head.weight"], shapes["head.bias"] = (width, classes), (classes,)
    return shapes


def resnet(p, x, statistics, blocks=(2, 2, 2, 2)):
    """ResNet of basic blocks with the small stem; x NHWC."""
    def conv_norm(x, name, suffix, stride):
        conv, norm = f"{name}.conv{suffix}.weight", f"{name}.norm{suffix}"
        w = p[conv].permute(3, 2, 0, 1)
        x = F.conv2d(x, w, stride=stride, padding=w.shape[-1] // 2)
        return F.batch_norm(x, statistics[norm + ".running_mean"],
                            statistics[norm + ".running_variance"], p[norm + ".weight"],
                            p[norm + ".bias"], training=True, momentum=0.1, eps=1e-5)

    x = F.relu(conv_norm(x.permute(0, 3, 1, 2), "stem", "", 1))
    for stage, count in enumerate(blocks):
        for i in range(count):
            n = f"stages.{stage}.{i}"
            stride = 2 if stage > 0 and i == 0 else 1
            y = F.relu(conv_norm(x, n, "1", stride))
            y = conv_norm(y, n, "2", 1)
            if n + ".shortcut.conv.weight" in p:
                x = conv_norm(x, n + ".shortcut", "", stride)
            x = F.relu(y + x)
    return x.mean((2, 3)) @ p["head.weight"] + p["head.bias"]


def resnet_shapes(width, channels, classes, blocks=(2, 2, 2, 2)):
    shapes = {}

    def conv_norm(name, suffix, kernel, a, b):
        shapes[f"{name}.conv{suffix}.weight"] = (kernel, kernel, a, b)
        shapes[f"{name}.norm{suffix}.weight"] = shapes[f"{name}.norm{suffix}.bias"] = (b,)

    conv_norm("stem", "", 3, channels, width)
    inputs = width
    for stage, count in enumerate(blocks):
        for i in range(count):
            n, outputs = f"stages.{stage}.{i}", width << stage
            conv_norm(n, "1", 3, inputs, outputs)
            conv_norm(n, "2", 3, outputs, outputs)
            if inputs != outputs:
                conv_norm(n + ".shortcut", "", 1, inputs, outputs)
            inputs = outputs
    shapes["head.weight"], shapes["head.bias"] = (inputs, classes), (classes,)
    return shapes


def running_statistics(shapes):
    """Fresh running statistics of every batch norm, beside convolutions only."""
    out = {}
    for name, shape in shapes.items():
        if ".norm" in name and name.endswith(".weight"):
            layer = name.removesuffix(".weight")
            out[layer + ".running_mean"] = torch.zeros(shape)
            out[layer + ".running_variance"] = torch.ones(shape)
    return out


def config(model, optimizer, batch, micro, clip, schedule):
    return {"schema_version": 1, "name": "torch-oracle", "seed": 0,
            "data": {"train": {"type": "synthetic", "kind": "classification", "features": 12,
                               "classes": 4, "samples": 64}, "validation": None,
                     "shuffle": False},
            "model": model, "optimizer": optimizer,
            "lr_schedule": schedule or {"type": "constant"},
            "training": {"length": {"steps": STEPS}, "global_batch_size": batch,
                         "micro_batch_size": micro, "max_grad_norm": clip, "precision": "f32"}}


def cases():
    warmup = {"type": "warmup_cosine", "warmup_steps": 3, "start_factor": 0.0, "end_factor": 0.1}
    yield dict(
        name="mlp", forward=mlp, schedule=warmup, batch=8, micro=8, clip=1.0,
        shapes={"layers.0.weight": (12, 24), "layers.0.bias": (24,), "layers.1.weight": (24, 16),
                "layers.1.bias": (16,), "layers.2.weight": (16, 4), "layers.2.bias": (4,)},
        input=(12,), classes=4, target=(),
        model={"type": "mlp", "hidden": [24, 16], "activation": "relu", "dropout": 0.0},
        optimizer={"type": "adamw", "learning_rate": 0.01, "betas": [0.9, 0.95], "eps": 1e-8,
                   "weight_decay": 0.1, "groups": [{"match": "*.bias", "weight_decay": 0.0}]},
        make=lambda p: torch.optim.AdamW(
            [{"params": [v for k, v in p.items() if not k.endswith(".bias")], "weight_decay": 0.1},
             {"params": [v for k, v in p.items() if k.endswith(".bias")], "weight_decay": 0.0}],
            lr=0.01, betas=(0.9, 0.95), eps=1e-8))
    yield dict(
        name="cnn", forward=cnn, schedule=None, batch=8, micro=8, clip=None,
        shapes={"layers.0.weight": (3, 3, 1, 6), "layers.0.bias": (6,),
                "layers.3.weight": (3, 3, 6, 8), "layers.3.bias": (8,),
                "layers.4.weight": (8,), "layers.4.bias": (8,),
                "layers.7.weight": (8, 4), "layers.7.bias": (4,)},
        input=(10, 10, 1), classes=4, target=(),
        model={"type": "sequential", "layers": [
            {"type": "conv2d", "channels": 6, "kernel": 3}, {"type": "relu"},
            {"type": "max_pool", "window": 2}, {"type": "conv2d", "channels": 8, "stride": 2},
            {"type": "batch_norm"}, {"type": "relu"}, {"type": "global_avg_pool"},
            {"type": "linear"}]},
        optimizer={"type": "sgd", "learning_rate": 0.05, "momentum": 0.9, "nesterov": True,
                   "weight_decay": 1e-3, "groups": []},
        make=lambda p: torch.optim.SGD(p.values(), lr=0.05, momentum=0.9, nesterov=True,
                                       weight_decay=1e-3))
    yield dict(
        name="gpt", forward=gpt, schedule=warmup, batch=4, micro=2, clip=0.5,
        shapes=gpt_shapes(2, 16, 11, 8), input=(8,), classes=11, target=(8,),
        model={"type": "gpt2", "layers": 2, "width": 16, "heads": 2, "context": 8, "vocab": 11},
        optimizer={"type": "adam", "learning_rate": 0.003, "betas": [0.9, 0.999], "eps": 1e-8},
        make=lambda p: torch.optim.Adam(p.values(), lr=0.003))
    yield dict(
        name="llama", forward=llama, schedule=warmup, batch=4, micro=2, clip=0.5,
        shapes=llama_shapes(2, 16, 8, 24, 11), input=(8,), classes=11, target=(8,),
        model={"type": "llama", "layers": 2, "width": 16, "heads": 4, "kv_heads": 2, "ffn": 24,
               "context": 8, "vocab": 11, "rope_theta": 100.0},
        optimizer={"type": "adam", "learning_rate": 0.003, "betas": [0.9, 0.999], "eps": 1e-8},
        make=lambda p: torch.optim.Adam(p.values(), lr=0.003))
    yield dict(
        name="vit", forward=vit, schedule=warmup, batch=8, micro=4, clip=1.0,
        shapes=vit_shapes(2, 16, 32, 4, 3, 5, 4), input=(8, 8, 3), classes=4, target=(),
        model={"type": "vit", "patch": 4, "layers": 2, "width": 16, "heads": 2, "mlp": 32},
        optimizer={"type": "adam", "learning_rate": 0.003, "betas": [0.9, 0.999], "eps": 1e-8},
        make=lambda p: torch.optim.Adam(p.values(), lr=0.003))
    shapes = resnet_shapes(2, 3, 4)
    statistics = running_statistics(shapes)
    yield dict(
        name="resnet", forward=lambda p, x: resnet(p, x, statistics), statistics=statistics,
        schedule=None, batch=8, micro=8, clip=None,
        shapes=shapes, input=(12, 12, 3), classes=4, target=(),
        model={"type": "resnet", "depth": 18, "stem": "cifar", "width": 2},
        optimizer={"type": "sgd", "learning_rate": 0.02, "momentum": 0.9, "weight_decay": 1e-3,
                   "groups": []},
        make=lambda p: torch.optim.SGD(p.values(), lr=0.02, momentum=0.9, weight_decay=1e-3))


def initial(rng, name, shape):
    if name.endswith("bias"):
        return rng.normal(0, 0.02, shape)
    if len(shape) == 1:
        return 1 + rng.normal(0, 0.02, shape)
    return rng.normal(0, 1 / math.sqrt(np.prod(shape[:-1])), shape)


def run(case, seed):
    rng = np.random.default_rng(seed)
    arrays, losses, norms = Arrays(), [], []
    params = {}
    for name, shape in case["shapes"].items():
        value = initial(rng, name, shape).astype(np.float32)
        arrays.add("init/" + name, value)
        params[name] = torch.tensor(value, requires_grad=True)
    for name, value in case.get("statistics", {}).items():
        arrays.add("init/" + name, value.numpy())
    optimizer = case["make"](params)
    for step in range(STEPS):
        if len(case["target"]) == 0:
            x = rng.normal(0, 1, (case["batch"],) + case["input"]).astype(np.float32)
        else:
            x = rng.integers(0, case["classes"], (case["batch"],) + case["input"]).astype(np.int32)
        y = rng.integers(0, case["classes"], (case["batch"],) + case["target"]).astype(np.int32)
        arrays.add(f"inputs/{step}", x)
        arrays.add(f"targets/{step}", y)
        for group in optimizer.param_groups:
            group["lr"] = rate(case["schedule"], case["optimizer"]["learning_rate"], step)
        optimizer.zero_grad()
        logits = case["forward"](params, torch.tensor(x) if x.dtype == np.float32
                                 else torch.tensor(x, dtype=torch.long))
        loss = F.cross_entropy(logits.reshape(-1, case["classes"]),
                               torch.tensor(y, dtype=torch.long).reshape(-1))
        loss.backward()
        norm = torch.sqrt(sum((v.grad.double() ** 2).sum() for v in params.values()))
        if case["clip"] is not None and norm >= case["clip"]:
            for v in params.values():
                v.grad *= (case["clip"] / norm).float()
        optimizer.step()
        losses.append(loss.item())
        norms.append(norm.item())
    for name, value in params.items():
        arrays.add("final/" + name, value.detach().numpy())
    for name, value in case.get("statistics", {}).items():
        arrays.add("final/" + name, value.numpy())
    script = pathlib.Path(__file__).read_bytes()
    document = {
        "torch": torch.__version__, "script_sha256": hashlib.sha256(script).hexdigest(),
        "config": config(case["model"], case["optimizer"], case["batch"], case["micro"],
                         case["clip"], case["schedule"]),
        "sample": {"input": list(case["input"]), "target": list(case["target"]),
                   "classes": case["classes"]},
        "losses": losses, "grad_norms": norms, "arrays": arrays.index}
    (HERE / f"{case['name']}.json").write_text(json.dumps(document, indent=1) + "\n")
    (HERE / f"{case['name']}.bin").write_bytes(bytes(arrays.bytes))
    print(case["name"], ["%.6f" % v for v in losses])


if __name__ == "__main__":
    for number, entry in enumerate(cases()):
        run(entry, 1000 + number)
