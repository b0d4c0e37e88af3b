# SPDX-License-Identifier: Apache-2.0
"""Writes inside.json: what PyTorch sees in the fourth update of two small models.

    python3 generate_inside.py        # needs torch and numpy

Configurations, first weights and batches are those of ../torch_oracle (mlp and cnn); layouts are the
engine's. Gradients are taken before clipping, weights after the update. Of the mlp two units of the
first layer are made never to be above 0: their bias is -100.
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
UPDATES = 4
DEAD = {"layers.0.bias": [3, 17]}
torch.set_num_threads(1)
torch.backends.mkldnn.set_flags(False)  # its convolutions crash on very few channels


def mlp(p, x, seen):
    for i in range(2):
        x = F.relu(x @ p[f"layers.{i}.weight"] + p[f"layers.{i}.bias"])
        seen[f"layers.{i}"] = x
    x = x @ p["layers.2.weight"] + p["layers.2.bias"]
    seen["layers.2"] = x
    return x


def conv(x, w, b, stride):
    """SAME padding: the odd element goes to the end. x is NHWC, w [kh, kw, in, out]."""
    k, size = w.shape[0], x.shape[1]
    total = max((math.ceil(size / stride) - 1) * stride + k - size, 0)
    lo, hi = total // 2, total - total // 2
    x = F.pad(x.permute(0, 3, 1, 2), (lo, hi, lo, hi))
    return F.conv2d(x, w.permute(3, 2, 0, 1), b, stride=stride).permute(0, 2, 3, 1)


def cnn(p, x, seen):
    x = seen["layers.0"] = conv(x, p["layers.0.weight"], p["layers.0.bias"], 1)
    x = seen["layers.1"] = F.relu(x)
    x = seen["layers.2"] = F.max_pool2d(x.permute(0, 3, 1, 2), 2).permute(0, 2, 3, 1)
    x = seen["layers.3"] = conv(x, p["layers.3.weight"], p["layers.3.bias"], 2)
    mean, var = x.mean((0, 1, 2)), x.var((0, 1, 2), unbiased=False)
    x = (x - mean) / torch.sqrt(var + 1e-5) * p["layers.4.weight"] + p["layers.4.bias"]
    seen["layers.4"] = x
    x = seen["layers.5"] = F.relu(x)
    x = seen["layers.6"] = x.mean((1, 2))
    x = seen["layers.7"] = x @ p["layers.7.weight"] + p["layers.7.bias"]
    return x


def optimizer_of(name, p):
    if name == "mlp":
        biases = [v for k, v in p.items() if k.endswith(".bias")]
        others = [v for k, v in p.items() if not k.endswith(".bias")]
        return torch.optim.AdamW([{"params": others, "weight_decay": 0.1},
                                  {"params": biases, "weight_decay": 0.0}],
                                 lr=0.01, betas=(0.9, 0.95), eps=1e-8)
    return torch.optim.SGD(p.values(), lr=0.05, momentum=0.9, nesterov=True, weight_decay=1e-3)


def figures(x):
    x = x.detach().double()
    return {"count": x.numel(), "zeros": int((x == 0).sum()), "norm": float(x.norm()),
            "mean": float(x.mean()), "deviation": float(x.std(unbiased=False)),
            "low": float(x.min()), "high": float(x.max())}


def look(name, forward):
    document = json.loads((ORACLE / f"{name}.json").read_text())
    data = (ORACLE / f"{name}.bin").read_bytes()

    def array(key):
        entry = document["arrays"][key]
        kind = {"f32": "<f4", "i32": "<i4"}[entry["dtype"]]
        count = int(np.prod(entry["shape"], dtype=int))
        return torch.tensor(np.frombuffer(data, kind, count, entry["offset"])
                            .reshape(entry["shape"]).copy())

    p = {key[5:]: array(key) for key in document["arrays"]
         if key.startswith("init/") and "running" not in key}
    if name == "mlp":
        for key, units in DEAD.items():
            p[key][units] = -100.0
    for value in p.values():
        value.requires_grad_(True)
    config = document["config"]
    optimizer = optimizer_of(name, p)
    base = config["optimizer"]["learning_rate"]
    clip = config["training"]["max_grad_norm"]
    for step in range(UPDATES):
        for group in optimizer.param_groups:
            group["lr"] = base * (min(1.0, step / 3) if name == "mlp" else 1.0)
        optimizer.zero_grad()
        seen = {}
        logits = forward(p, array(f"inputs/{step}"), seen)
        loss = F.cross_entropy(logits, array(f"targets/{step}").long())
        loss.backward()
        gradients = {key: value.grad.clone() for key, value in p.items()}
        before = {key: value.detach().clone() for key, value in p.items()}
        if clip is not None:
            torch.nn.utils.clip_grad_norm_(p.values(), clip)
        optimizer.step()
    out = {"parameters": {}, "activations": {}}
    for key, value in p.items():
        change = value.detach() - before[key]
        out["parameters"][key] = {
            "weights": figures(value), "gradients": figures(gradients[key]),
            "updates": figures(change),
            "update_ratio": float(change.double().norm() / value.detach().double().norm())}
    for key, value in seen.items():
        units = value.detach().flatten(0, -2)
        out["activations"][key] = figures(value) | {"dead": int((units <= 0).all(0).sum())}
    return out


document = {"torch": torch.__version__,
            "script_sha256": hashlib.sha256(pathlib.Path(__file__).read_bytes()).hexdigest(),
            "updates": UPDATES, "dead": DEAD,
            "models": {"mlp": look("mlp", mlp), "cnn": look("cnn", cnn)}}
(HERE / "inside.json").write_text(json.dumps(document, indent=1) + "\n")
