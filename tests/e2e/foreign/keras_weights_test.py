# SPDX-License-Identifier: Apache-2.0
"""Weights exported for Keras give there, in the same layers, what `weft` predicts.

    python3 keras_weights_test.py WEFT [TestClass[.test]]

Needs keras (3), h5py and numpy; Keras computes with numpy. Exits 77 where one of them is missing.
"""
import json
import os
import pathlib
import sys
import tempfile
import unittest

import weft_program
from weft_program import weft

os.environ.setdefault("KERAS_BACKEND", "numpy")
try:
    import h5py
    import keras
    import numpy as np
    from keras import layers
except ImportError as missing:
    print(f"SKIPPED: keras, h5py and numpy are needed: {missing}")
    sys.exit(77)

TOLERANCE = 1e-4  # of probabilities: f32 sums in another order
SIDE, CHANNELS, CLASSES, SAMPLES = 8, 3, 4, 6


class KerasWeightsTest(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)
        self.random = np.random.default_rng(7)

    def exported(self, model, inputs):
        """The weights of a short run on `inputs`, and what it predicts for them."""
        np.save(self.folder / "x.npy", inputs)
        np.save(self.folder / "y.npy", np.arange(len(inputs)) % CLASSES)
        data = {"type": "npy", "inputs": str(self.folder / "x.npy"), "targets": str(self.folder / "y.npy"),
                "task": "classification", "scale": "none"}
        config = {"name": "keras", "seed": 2, "data": {"train": data, "validation": None}, "model": model,
                  "optimizer": {"type": "adamw", "learning_rate": 0.02},
                  "training": {"global_batch_size": 16, "precision": "f32", "length": {"steps": 12}},
                  "log": {"tensorboard": False}}
        path = self.folder / "config.json"
        path.write_text(json.dumps(config))
        weft("train", path, "--run-dir", self.folder / "run")
        weft("checkpoint", "export", self.folder / "run", "--to", self.folder / "m.weights.h5")
        told = json.loads(weft("predict", self.folder / "run", f"0-{SAMPLES - 1}", "--split", "train",
                               "--from", "latest", "--json"))
        return self.folder / "m.weights.h5", [sample["values"] for sample in told["predictions"]]

    def test_a_convolutional_network(self):
        inputs = self.random.normal(size=(64, SIDE, SIDE, CHANNELS)).astype(np.float32)
        file, told = self.exported({"type": "sequential", "layers": [
            {"type": "conv2d", "channels": 6}, {"type": "batch_norm"}, {"type": "relu"},
            {"type": "flatten"}, {"type": "linear", "units": 10}, {"type": "relu"},
            {"type": "layer_norm"}, {"type": "linear"}]}, inputs)
        model = keras.Sequential([
            layers.Input((SIDE, SIDE, CHANNELS)), layers.Conv2D(6, 3, padding="same"),
            layers.BatchNormalization(epsilon=1e-5), layers.ReLU(), layers.Flatten(), layers.Dense(10),
            layers.ReLU(), layers.LayerNormalization(epsilon=1e-5), layers.Dense(CLASSES),
            layers.Softmax()])
        model.load_weights(file)
        with h5py.File(file) as opened:
            self.assertEqual(sorted(opened["layers"]),
                             ["batch_normalization", "conv2d", "dense", "dense_1", "layer_normalization"])
        self.assert_same(model, inputs, told)

    def test_a_perceptron(self):
        inputs = self.random.normal(size=(64, 5)).astype(np.float32)
        file, told = self.exported({"type": "mlp", "hidden": [16, 8], "activation": "relu"}, inputs)
        model = keras.Sequential([layers.Input((5,)), layers.Dense(16, activation="relu"),
                                  layers.Dense(8, activation="relu"),
                                  layers.Dense(CLASSES, activation="softmax")])
        model.load_weights(file)
        self.assert_same(model, inputs, told)

    def assert_same(self, model, inputs, told):
        theirs = np.asarray(model(inputs[:SAMPLES], training=False))
        self.assertLess(np.abs(np.array(told) - theirs).max(), TOLERANCE)


if __name__ == "__main__":
    weft_program.program = sys.argv.pop(1)
    unittest.main()
