#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Weft beside PyTorch and JAX on this processor: what a training step takes, in turns.

  cpu_table.py --weft BUILD/app/cli/weft --ceilings BUILD/tests/perf/bench_kernels

Every contender of a row trains the same model on made-up data with as many threads, one after the other, in
several rounds; the figure is the least of the rounds' medians, because other programs only ever make it larger.
Prints a table in Markdown, after each row what it has so far. Needs an idle machine.
"""
import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent


def images(samples, extent, channels, classes):
    """What `weft data make` shall write: to read is cheap, to make up anew is not."""
    return ["images", "--samples", samples, "--height", extent, "--width", extent, "--channels", channels,
            "--classes", classes]


def tokens(vocabulary, samples):
    return {"type": "synthetic", "kind": "tokens", "vocab": vocabulary, "samples": samples}


def convolutional():
    layers = []
    for channels in (64, 128, 256):
        for _ in range(2):
            layers += [{"type": "conv2d", "channels": channels}, {"type": "batch_norm"}, {"type": "relu"}]
        layers.append({"type": "max_pool"})
    return {"type": "sequential", "layers": layers + [{"type": "flatten"}, {"type": "linear"}]}


# name of a peer's model: batch, steps, data, model, whether JAX has it
WORK = {
    "mlp-512": (256, 400, images(4096, 28, 1, 10),
                {"type": "mlp", "hidden": [512, 512], "dropout": 0.0}, True),
    "gpt-6x384": (8, 24, tokens(256, 256),
                  {"type": "gpt2", "layers": 6, "width": 384, "heads": 6, "context": 256, "vocab": 256,
                   "dropout": 0.0}, True),
    "cnn": (64, 30, images(512, 32, 3, 10), convolutional(), False),
    "resnet18-cifar": (64, 12, images(256, 32, 3, 10),
                       {"type": "resnet", "depth": 18, "stem": "cifar"}, False),
    "vit-ti16": (8, 20, images(32, 224, 3, 1000),
                 {"type": "vit", "variant": "ti16", "dropout": 0.0}, False),
    "gpt2-124m": (1, 8, tokens(50257, 32),
                  {"type": "gpt2", "variant": "124m", "dropout": 0.0}, False),
    "trm-9x9": (32, 6, {"type": "sudoku", "side": 9, "samples": 64},
                {"type": "trm", "mixer": "mlp", "positions": "none"}, False),
}


def settings():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--weft", required=True)
    parser.add_argument("--ceilings", required=True, metavar="BENCH_KERNELS", help="measures this machine's best rates")
    parser.add_argument("--torch", metavar="PYTHON", help="a Python with torch and torchvision")
    parser.add_argument("--jax", metavar="PYTHON", help="a Python with jax")
    parser.add_argument("--compiled", action="store_true", help="PyTorch compiled, too")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--only", nargs="*", choices=WORK, default=list(WORK))
    parser.add_argument("--precision", nargs="*", choices=["bf16", "f32"], default=["bf16", "f32"])
    return parser.parse_args()


def output_of(command, given, **more):
    environment = {**os.environ, "OMP_NUM_THREADS": str(given.threads), "JAX_PLATFORMS": "cpu", **more}
    ended = subprocess.run(command, capture_output=True, text=True, env=environment)
    if ended.returncode != 0:
        raise SystemExit(f"{' '.join(map(str, command))}: {ended.stderr[-2000:]}")
    return ended.stdout


def config_of(name, precision, folder, given):
    """Written to a file in the folder, with the data."""
    batch, steps, data, model, _ = WORK[name]
    if isinstance(data, list):
        path = f"{folder}/{name}.h5"
        output_of([given.weft, "data", "make", data[0], path, *map(str, data[1:])], given)
        data = {"type": "hdf5", "path": path}
    config = {
        "schema_version": 1, "name": name, "data": {"train": data, "validation": None}, "model": model, "metrics": [],
        "loss": {"type": "stablemax" if model["type"] == "trm" else "cross_entropy"},
        "optimizer": {"type": "adamw", "learning_rate": 1e-4, "weight_decay": 0.1}, "lr_schedule": {"type": "constant"},
        "training": {"global_batch_size": batch, "micro_batch_size": batch, "precision": precision,
                     "max_grad_norm": 1.0, "length": {"steps": steps}},
        "checkpoint": {"every": {"steps": 1000000}, "on_improvement": False}, "log": {"tensorboard": False},
    }
    file = pathlib.Path(folder) / "config.json"
    file.write_text(json.dumps(config))
    return str(file)


def weft_step(name, precision, given):
    steps = WORK[name][1]
    with tempfile.TemporaryDirectory() as folder:
        config = config_of(name, precision, folder, given)
        out = output_of([given.weft, "train", config, "--run-dir", f"{folder}/run", "--events"], given)
    events = [event for event in map(json.loads, out.splitlines()) if event["event"] == "step"]
    # The data of the peers are there before they start.
    times = [event["step_ms"] - event.get("data_wait_ms", 0) for event in events]
    last = sorted(times[steps // 2:])
    return last[len(last) // 2]


def flops_of(name, precision, given):
    with tempfile.TemporaryDirectory() as folder:
        config = config_of(name, precision, folder, given)
        return json.loads(output_of([given.weft, "plan", config, "--json"], given))["flops_per_step"]


def peer_step(python, script, arguments, given):
    return float(re.search(r"step_ms ([0-9.]+)", output_of([python, str(HERE / script), *arguments], given)).group(1))


def ceilings(given):
    """GFLOP/s of products in bf16 and f32."""
    out = output_of([given.ceilings, "no row has this name"], given)
    f32, bf16 = re.search(r"f32 (\d+) GFLOP/s, bf16 vector (\d+) GFLOP/s", out).groups()
    return {"bf16": float(bf16), "f32": float(f32)}


def contenders(name, precision, given):
    batch, steps, _, _, in_jax = WORK[name]
    out = {"Weft": lambda: weft_step(name, precision, given)}
    if given.torch:
        for mode in ["eager"] + ["compile"] * given.compiled:
            arguments = [name, mode, str(batch), str(steps), "cpu", precision]
            out[f"PyTorch {mode}"] = lambda arguments=arguments: peer_step(given.torch, "torch_peer.py", arguments, given)
    if given.jax and in_jax:
        out["JAX"] = lambda: peer_step(given.jax, "jax_peer.py", [name, str(batch), str(steps), precision], given)
    return out


def versions(given):
    out = [output_of([given.weft, "--version"], given).strip()]
    for python, package in ((given.torch, "torch"), (given.jax, "jax")):
        if python:
            code = f"import importlib.metadata as m; print('{package}', m.version('{package}'))"
            out.append(output_of([python, "-c", code], given).strip())
    return ", ".join(out)


def main():
    given = settings()
    columns = ["Weft"] + ["PyTorch eager"] * bool(given.torch) + \
        ["PyTorch compile"] * bool(given.torch and given.compiled) + ["JAX"] * bool(given.jax)
    print(f"{versions(given)}; {given.threads} threads; ms of a step, the least of {given.rounds} rounds\n")
    print("| Work | " + " | ".join(columns) + " | best peer / Weft | of the ceiling | ceiling, TFLOP/s |")
    print("| --- |" + " --- |" * (len(columns) + 3), flush=True)
    for name in given.only:
        for precision in given.precision:
            every = contenders(name, precision, given)
            best, ceiling = {}, 0.0
            for _ in range(given.rounds):
                ceiling = max(ceiling, ceilings(given)[precision])
                for title, step in every.items():
                    best[title] = min(best.get(title, float("inf")), step())
            peers = [ms for title, ms in best.items() if title != "Weft"]
            ratio = f"{min(peers) / best['Weft']:.2f}" if peers else ""
            share = flops_of(name, precision, given) / (best["Weft"] * 1e6) / ceiling
            cells = [f"{best[title]:.4g}" if title in best else "" for title in columns]
            print(f"| {name}, batch {WORK[name][0]}, {precision} | " + " | ".join(cells) +
                  f" | {ratio} | {share:.2f} | {ceiling / 1e3:.2f} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
