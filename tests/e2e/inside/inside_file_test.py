# SPDX-License-Identifier: Apache-2.0
"""What `weft predict --inside` and `weft generate --inside` write, read by numpy.

    python3 inside_file_test.py WEFT

Small models are trained for a few steps and looked into; numpy computes the weights of attention from
what the layer before put out, softmax(q k^T / sqrt(D) + mask), and what they make of the values. Exits 77
without numpy.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

try:
    import numpy as np
except ImportError as missing:
    print(f"SKIPPED: numpy is needed: {missing}")
    sys.exit(77)

HEADS = 2
VIT = {"data": {"train": {"type": "synthetic", "kind": "images", "shape": [12, 8, 1], "classes": 3,
                          "samples": 64}, "validation": {"split": 0.25}},
       "model": {"type": "vit", "patch": 4, "layers": 2, "width": 16, "heads": HEADS}}
GPT = {"data": {"train": {"type": "text", "path": "book.txt"}, "validation": {"split": 0.25}},
       "model": {"type": "gpt2", "layers": 2, "width": 16, "heads": HEADS, "context": 24,
                 "dropout": 0.1}}


def weft(*words, fails=False):
    done = subprocess.run([sys.argv[1], *words], capture_output=True, text=True,
                          errors="replace")  # what a new model writes is no UTF-8
    assert (done.returncode != 0) == fails, (words, done.stdout, done.stderr)
    return done.stdout + done.stderr


def attend(qkv, causal):
    """[T, 3C] -> the weights [H, T, T] and what they make of the values [T, C]."""
    t, width = qkv.shape[0], qkv.shape[1] // 3
    q, k, v = (part.reshape(t, HEADS, width // HEADS).transpose(1, 0, 2)
               for part in np.split(qkv.astype(np.float64), 3, axis=1))
    scores = q @ k.transpose(0, 2, 1) / np.sqrt(width // HEADS)
    if causal:
        scores = np.where(np.tril(np.ones((t, t), bool)), scores, -np.inf)
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    weights /= weights.sum(-1, keepdims=True)
    return weights, (weights @ v).transpose(1, 0, 2).reshape(t, width)


def check(file, positions, causal, tolerance):
    arrays = np.load(file)
    for i in range(2):
        name = f"blocks.{i}.attention"
        weights, mixed = attend(arrays[f"layers/{name}.qkv"], causal)
        assert arrays[f"attention/{name}"].shape == (HEADS, positions, positions)
        assert arrays[f"attention/{name}"].dtype == np.float32
        assert np.abs(arrays[f"attention/{name}"] - weights).max() < 1e-6
        assert np.abs(arrays[f"layers/{name}"] - mixed).max() < tolerance * np.abs(mixed).max()
    assert arrays["layers/norm"].shape == ((positions, 16) if causal else (16,))
    return arrays


def train(folder, config, precision):
    run = folder / f"run-{config['model']['type']}-{precision}"
    file = folder / "run.json"
    file.write_text(json.dumps({
        "schema_version": 1, "name": "small", "seed": 1, **config,
        "training": {"length": {"steps": 3}, "global_batch_size": 8, "precision": precision},
        "checkpoint": {"every": {"steps": 3}}}))
    weft("train", str(file), "--run-dir", str(run), "--quiet")
    return str(run)


with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name)
    (folder / "book.txt").write_text("the quick brown fox jumps over the lazy dog. " * 60)
    file = str(folder / "inside.npz")

    run = train(folder, VIT, "f32")
    said = weft("predict", run, "2", "--split", "validation", "--inside", file)
    assert "4 attention heads" in said, said
    arrays = check(file, 7, False, 1e-5)
    assert arrays["sample"].shape == (12, 8, 1) and arrays["layers/patches"].shape == (6, 16)
    said = weft("predict", run, "0-1", "--split", "validation", "--inside", file, fails=True)
    assert "one sample" in said, said
    said = weft("predict", run, "0", "--split", "validation", "--inside", "inside.txt", fails=True)
    assert ".npz" in said, said

    # bf16 keeps 8 bits of what attention puts out; what is looked at is made of the same q, k, v.
    for precision, tolerance in (("f32", 1e-5), ("bf16", 2 ** -7)):
        run = train(folder, GPT, precision)
        weft("predict", run, "0", "--split", "validation", "--inside", file)
        arrays = check(file, 24, True, tolerance)
        assert arrays["sample"].dtype == np.int32 and arrays["sample"].shape == (24,)
        weft("generate", run, "--prompt", "the fox", "--tokens", "1", "--inside", file)
        arrays = check(file, 7, True, tolerance)
        assert bytes(arrays["tokens"].tolist()).decode() == "the fox"
print("ok")
