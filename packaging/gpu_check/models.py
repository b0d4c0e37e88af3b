# SPDX-License-Identifier: Apache-2.0
"""Configurations of what is trained. Data are made up, so that nothing has to be there."""
import dataclasses

SMALL = {
    "mlp": {
        "data": {"train": {"type": "synthetic", "kind": "classification", "features": 12, "classes": 5, "samples": 400}},
        "model": {"type": "mlp", "hidden": [16, 8], "dropout": 0.2},
        "optimizer": {"type": "adamw", "learning_rate": 0.01, "weight_decay": 0.05},
    },
    "gpt": {
        "data": {"train": {"type": "synthetic", "kind": "tokens", "vocab": 24, "samples": 400}},
        "model": {"type": "gpt2", "layers": 2, "width": 16, "heads": 2, "context": 8, "vocab": 24, "dropout": 0.1},
        "metrics": [],
        "optimizer": {"type": "adamw", "learning_rate": 0.003},
    },
    "cnn": {
        "data": {"train": {"type": "synthetic", "kind": "images", "shape": [6, 6, 2], "classes": 4, "samples": 200}},
        "model": {"type": "sequential", "layers": [
            {"type": "conv2d", "channels": 8, "kernel": 3}, {"type": "batch_norm"}, {"type": "relu"},
            {"type": "max_pool"}, {"type": "dropout", "rate": 0.2}, {"type": "flatten"}, {"type": "linear"}]},
        "optimizer": {"type": "sgd", "learning_rate": 0.05, "momentum": 0.9},
    },
}


def small(name, precision):
    batch = 16 if name == "mlp" else 8
    return {**SMALL[name], "lr_schedule": {"type": "constant"},
            "training": {"global_batch_size": batch, "precision": precision, "length": {"steps": 100}}}


@dataclasses.dataclass
class Fast:
    name: str
    weft: dict
    batch: int
    steps: int
    in_jax: bool = True


def fast(name):
    """As the peers train it (tests/perf/peers): bf16 products, f32 weights, AdamW, gradients cut at norm 1."""
    if name.startswith("gpt2-"):
        batch, steps = 16, 40
        data = {"type": "synthetic", "kind": "tokens", "vocab": 50257, "samples": 4096}
        model = {"type": "gpt2", "variant": name.removeprefix("gpt2-"), "dropout": 0.0}
    elif name == "resnet50":
        batch, steps = 128, 40
        data = {"type": "synthetic", "kind": "images", "shape": [224, 224, 3], "classes": 1000, "samples": 1024}
        model = {"type": "resnet", "depth": 50}
    else:
        batch, steps = 1024, 200
        data = {"type": "synthetic", "kind": "classification", "features": 784, "classes": 10, "samples": 16384}
        model = {"type": "mlp", "hidden": [4096, 4096]}
    config = {
        "data": {"train": data, "validation": None}, "model": model, "metrics": [],
        "optimizer": {"type": "adamw", "learning_rate": 1e-4, "weight_decay": 0.1}, "lr_schedule": {"type": "constant"},
        "training": {"global_batch_size": batch, "precision": "bf16", "length": {"steps": steps}},
        "checkpoint": {"every": {"steps": 1000000}, "on_improvement": False}, "log": {"tensorboard": False},
    }
    return Fast(name, config, batch, steps, name != "resnet50")
