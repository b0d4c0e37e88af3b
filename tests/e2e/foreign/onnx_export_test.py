# SPDX-License-Identifier: Apache-2.0
"""Models exported as ONNX give the same probabilities in onnxruntime as in `weft`, for any batch.

    python3 onnx_export_test.py WEFT [TestClass[.test]]

Needs onnx, onnxruntime and numpy. Exits 77 where one of them is missing.
"""
import json
import pathlib
import sys
import tempfile
import unittest

import weft_program
from weft_program import weft

try:
    import numpy as np
    import onnx
    import onnxruntime
except ImportError as missing:
    print(f"SKIPPED: onnx, onnxruntime and numpy are needed: {missing}")
    sys.exit(77)

CONTEXT = 16
SAMPLES = 6
TOLERANCE = 1e-4  # of log-probabilities: f32 sums in another order
TEXT = (b"The warp is given; the weft is chosen, thread by thread, and what was chosen can be read "
        b"off the cloth for as long as it holds. 0123456789 !?;,-()[]{}<>@#$%^&*+=~|/ ") * 8


def log_softmax(logits):
    logits = logits.astype(np.float64)
    shifted = logits - logits.max(-1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(-1, keepdims=True))


class Case(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)

    def trained(self, source, model, **settings):
        """A run of a few large steps: weights and running statistics are no longer what they began as."""
        config = {"name": "exported", "seed": 5, "data": {"train": source, "test": source}, "model": model,
                  "optimizer": {"type": "adamw", "learning_rate": 0.02},
                  "lr_schedule": {"type": "constant"},
                  "training": {"global_batch_size": 8, "precision": "f32", "length": {"steps": 12}}}
        config.update(settings)
        path = self.folder / "run.json"
        path.write_text(json.dumps(config))
        weft("train", path, "--run-dir", self.folder / "run")
        return self.folder / "run"

    def exported(self, run):
        file = self.folder / "model.onnx"
        weft("checkpoint", "export", run, "--to", file)
        onnx.checker.check_model(str(file), full_check=True)
        return onnxruntime.InferenceSession(str(file), providers=["CPUExecutionProvider"])

    def ours(self, run):
        document = json.loads(weft("predict", run, f"0-{SAMPLES - 1}", "--split", "test", "--from",
                                   "latest", "--json"))
        return np.array([sample["values"] for sample in document["predictions"]])

    def assert_same(self, run, inputs, last_of_many=False):
        session = self.exported(run)
        self.assertEqual([port.name for port in session.get_inputs()], ["inputs"])
        output = session.get_outputs()[0].name
        all_at_once = session.run([output], {"inputs": inputs})[0]
        alone = np.concatenate([session.run([output], {"inputs": one[None]})[0] for one in inputs])
        if last_of_many:
            all_at_once, alone = all_at_once[:, -1], alone[:, -1]
        theirs = log_softmax(all_at_once)
        self.assertLess(np.abs(log_softmax(alone) - theirs).max(), TOLERANCE)
        self.assertLess(np.abs(np.log(self.ours(run)) - theirs).max(), TOLERANCE)
        # The comparison is worth something: samples differ by far more.
        self.assertGreater(np.abs(theirs[0] - theirs[1]).max(), 100 * TOLERANCE)


class Numbers(Case):
    def source(self):
        return {"type": "npy", "inputs": str(self.folder / "x.npy"), "scale": "none",
                "targets": str(self.folder / "y.npy"), "scale_targets": "none"}

    def rows(self, shape, classes=5):
        random = np.random.default_rng(3)
        inputs = random.normal(size=(64, *shape)).astype(np.float32)
        np.save(self.folder / "x.npy", inputs)
        np.save(self.folder / "y.npy", (np.arange(64) % classes).astype(np.int64))
        return self.source(), inputs[:SAMPLES]

    def test_mlp(self):
        source, inputs = self.rows((12,))
        self.assert_same(self.trained(source, {"type": "mlp", "hidden": [16, 9], "dropout": 0.2}), inputs)

    def test_every_activation(self):
        source, inputs = self.rows((12,))
        layers = []
        for name in ("relu", "gelu", "silu", "tanh", "sigmoid"):
            layers += [{"type": "linear", "units": 10}, {"type": name}]
        layers += [{"type": "layer_norm"}, {"type": "linear"}]
        self.assert_same(self.trained(source, {"type": "sequential", "layers": layers}), inputs)

    def test_cnn(self):
        source, inputs = self.rows((9, 7, 3))
        layers = [{"type": "conv2d", "channels": 6, "kernel": 3}, {"type": "batch_norm"}, {"type": "relu"},
                  {"type": "max_pool"}, {"type": "conv2d", "channels": 5, "kernel": 3, "stride": 2},
                  {"type": "batch_norm"}, {"type": "gelu"}, {"type": "avg_pool"}, {"type": "dropout"},
                  {"type": "flatten"}, {"type": "linear"}]
        self.assert_same(self.trained(source, {"type": "sequential", "layers": layers}), inputs)

    def test_resnet(self):
        source, inputs = self.rows((32, 32, 3))
        self.assert_same(self.trained(source, {"type": "resnet", "depth": 18, "stem": "cifar"},
                                      optimizer={"type": "adamw", "learning_rate": 0.001}), inputs)

    def test_vit(self):
        source, inputs = self.rows((16, 16, 3))
        model = {"type": "vit", "patch": 4, "layers": 2, "width": 24, "heads": 4}
        self.assert_same(self.trained(source, model), inputs)

    def test_values(self):
        random = np.random.default_rng(4)
        inputs = random.normal(size=(64, 6)).astype(np.float32)
        np.save(self.folder / "x.npy", inputs)
        np.save(self.folder / "y.npy", inputs[:, :2] * 3 + 1)
        run = self.trained(self.source(), {"type": "mlp", "hidden": [16]}, loss={"type": "mse"})
        session = self.exported(run)
        theirs = session.run(["values"], {"inputs": inputs[:SAMPLES]})[0]
        self.assertLess(np.abs(self.ours(run) - theirs).max(), TOLERANCE)


class Text(Case):
    def windows(self):
        (self.folder / "text.txt").write_bytes(TEXT)
        source = {"type": "text", "path": str(self.folder / "text.txt")}
        tokens = [list(TEXT[i * CONTEXT:(i + 1) * CONTEXT]) for i in range(SAMPLES)]
        return source, np.array(tokens, dtype=np.int32)

    def test_gpt2(self):
        source, inputs = self.windows()
        model = {"type": "gpt2", "layers": 2, "width": 32, "heads": 4, "context": CONTEXT, "vocab": 256}
        self.assert_same(self.trained(source, model), inputs, last_of_many=True)

    def test_llama(self):
        source, inputs = self.windows()
        model = {"type": "llama", "layers": 2, "width": 32, "heads": 4, "kv_heads": 2, "context": CONTEXT,
                 "vocab": 256}
        self.assert_same(self.trained(source, model), inputs, last_of_many=True)

    def test_low_rank_factors_are_added_to_their_weights(self):
        source, inputs = self.windows()
        model = {"type": "gpt2", "layers": 2, "width": 32, "heads": 4, "context": CONTEXT, "vocab": 256}
        rank, alpha = 3, 7.5
        run = self.trained(source, model, init={"lora": {"rank": rank, "alpha": alpha}},
                           optimizer={"type": "adamw", "learning_rate": 0.2})
        self.assert_same(run, inputs, last_of_many=True)
        weft("checkpoint", "export", run, "--to", self.folder / "parts.npz", "--all")
        parts = np.load(self.folder / "parts.npz")
        merged = {tensor.name: onnx.numpy_helper.to_array(tensor)
                  for tensor in onnx.load(self.folder / "model.onnx").graph.initializer}
        factors = [name for name in parts.files if name.endswith(".lora.a") and "/" not in name]
        self.assertEqual(len(factors), 8)  # of each block: q, k, v; what joins the heads; up; down
        for name in factors:
            weight = name.replace(".lora.a", ".weight")
            a, b = parts[name].astype(np.float64), parts[name.replace(".lora.a", ".lora.b")]
            wanted = parts[weight] + alpha / rank * a @ b
            self.assertGreater(np.abs(wanted - parts[weight]).max(), 0.01)
            np.testing.assert_allclose(merged[weight], wanted, rtol=1e-6, atol=1e-7, err_msg=weight)

    def test_what_has_no_translation_is_listed(self):
        source, _ = self.windows()
        model = {"type": "gpt2", "layers": 2, "width": 32, "heads": 4, "context": CONTEXT, "vocab": 256,
                 "experts": 4}
        run = self.trained(source, model)
        told = weft("checkpoint", "export", run, "--to", self.folder / "model.onnx", code=2)
        for op in ("top_k", "dispatch", "combine"):
            self.assertIn(f"{op} at ", told)
        self.assertFalse((self.folder / "model.onnx").exists())


if __name__ == "__main__":
    weft_program.program = sys.argv.pop(1)
    unittest.main()
