# SPDX-License-Identifier: Apache-2.0
"""Models of PyTorch's exporters give PyTorch's logits here, and train with PyTorch's losses.

    python3 onnx_import_test.py WEFT [TestClass[.test]]

Needs torch, onnx, onnxruntime, onnxscript and numpy. Exits 77 where one of them is missing.
"""
import copy
import itertools
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
    import onnxscript  # noqa: F401 the newer exporter needs it
    import torch
    from torch.nn import functional

    import onnx_models
except ImportError as missing:
    print(f"SKIPPED: torch, onnx, onnxruntime, onnxscript and numpy are needed: {missing}")
    sys.exit(77)

STEPS = 10
# That the exporters write; the newer one asked for an older set writes 18.
OPERATOR_SETS = {"script": (13, 15, 17, 18, 20, 21), "dynamo": (18, 20, 21)}
TRAINED = ("mlp", "cnn", "gpt2", "vit")
SAMPLES = 8  # all of them in each batch, so that their order says nothing
TOLERANCE = 1e-4  # f32 sums in another order
STILL = {"type": "sgd", "learning_rate": 1e-12, "momentum": 0.0}  # the smallest that counts as learning


class Case(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)

    def data(self, name):
        """Inputs and targets for PyTorch, and the source that gives the same here."""
        torch.manual_seed(7)
        if name == "gpt2":
            tokens = torch.randint(onnx_models.VOCABULARY, (SAMPLES * onnx_models.CONTEXT + 1,))
            tokens.numpy().astype("<u2").tofile(self.folder / "tokens.bin")
            return *self.windows(tokens), {"type": "tokens", "path": str(self.folder / "tokens.bin"),
                                           "vocab": onnx_models.VOCABULARY}
        inputs = torch.randn(SAMPLES, *onnx_models.SHAPES[name])
        targets = torch.arange(SAMPLES) % onnx_models.CLASSES
        rows = inputs.numpy() if name == "mlp" else inputs.numpy().transpose(0, 2, 3, 1)
        np.save(self.folder / "x.npy", np.ascontiguousarray(rows))
        np.save(self.folder / "y.npy", targets.numpy())
        return inputs, targets, {"type": "npy", "inputs": str(self.folder / "x.npy"), "scale": "none",
                                 "targets": str(self.folder / "y.npy"), "channels": "last"}

    def windows(self, tokens):
        """Each predicts the token after every one of its own."""
        return (tokens[:-1].reshape(SAMPLES, onnx_models.CONTEXT), tokens[1:].reshape(SAMPLES, onnx_models.CONTEXT))

    def measured(self, model):
        """Batch normalisations as after training: no two of their tensors are equal."""
        norms = [module for module in model.modules() if isinstance(module, torch.nn.BatchNorm2d)]
        for module in norms:
            module.running_mean.uniform_(-0.2, 0.2)
            module.running_var.uniform_(0.5, 2.0)
        return norms

    def exported(self, name, exporter, opset=None, still=False):
        """`still`: running statistics stay, since PyTorch's are of the unbiased variance and ours are not."""
        model = onnx_models.made(name)
        for module in self.measured(model) if still else []:
            module.momentum = 0.0
        there = copy.deepcopy(model)
        file = self.folder / f"{name}.onnx"
        onnx_models.export(model, onnx_models.inputs_for(name, 3), file, exporter, opset)
        return there, file

    def settings(self, source, optimizer, *more):
        values = {"seed": 5, "data.train": source, "data.test": source, "data.validation": None, "optimizer": optimizer,
                  "lr_schedule": {"type": "constant"}, "training.global_batch_size": SAMPLES,
                  "training.precision": "f32", "training.length": {"steps": STEPS}, "training.max_grad_norm": None}
        out = []
        for key, value in values.items():
            out += ["--set", f"{key}={json.dumps(value)}"]
        return [*out, *more]

    def losses_here(self, run):
        lines = map(json.loads, (run / "events.jsonl").read_text().splitlines())
        return [line["loss"] for line in lines if line.get("event", line.get("type")) == "step"]

    def losses_there(self, model, inputs, targets, optimizer):
        model.train()
        losses = []
        for _ in range(STEPS):
            loss = functional.cross_entropy(model(inputs).flatten(0, -2), targets.flatten())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        return losses

    def assert_trains_alike(self, name, exporter, *more, adam=False, opset=None):
        model, file = self.exported(name, exporter, opset)
        return self.assert_model_trains_alike(model, file, self.data(name), *more, adam=adam)

    def assert_model_trains_alike(self, model, file, data, *more, adam=False):
        inputs, targets, source = data
        theirs = (torch.optim.AdamW(model.parameters(), lr=0.003, weight_decay=0.0) if adam
                  else torch.optim.SGD(model.parameters(), lr=0.05))
        ours = ({"type": "adamw", "learning_rate": 0.003, "weight_decay": 0.0} if adam
                else {"type": "sgd", "learning_rate": 0.05, "momentum": 0.0})
        run = self.folder / "run"
        weft("train", file, *self.settings(source, ours, *more), "--run-dir", run)
        here = self.losses_here(run)
        there = self.losses_there(model, inputs, targets, theirs)
        self.assertEqual(len(here), STEPS)
        np.testing.assert_allclose(here, there, rtol=TOLERANCE)
        # The comparison is worth something: it learns by far more than it may differ.
        self.assertGreater(there[0] - there[-1], 100 * TOLERANCE * there[0])
        return model, run


class Training(Case):
    """Ten steps, by either exporter and optimizer."""


class Language(Case):
    """Graphs from tokens to logits are language models."""

    def text_model(self, **options):
        torch.manual_seed(3)
        model = onnx_models.Gpt2(vocabulary=256)
        there = copy.deepcopy(model)
        onnx_models.export(model, onnx_models.inputs_for("gpt2", 3), self.folder / "bytes.onnx", "script", **options)
        return there, self.folder / "bytes.onnx"

    def text(self):
        content = (b"the quick brown fox jumps over the lazy dog. " * 3)[:SAMPLES * onnx_models.CONTEXT + 1]
        (self.folder / "text.txt").write_bytes(content)
        return *self.windows(torch.tensor(list(content))), {"type": "text", "path": str(self.folder / "text.txt")}

    def test_of_transformers(self):
        try:
            model = onnx_models.Transformers()
        except ImportError as missing:
            self.skipTest(str(missing))
        there, file = copy.deepcopy(model), self.folder / "transformers.onnx"
        onnx_models.export(model, onnx_models.inputs_for("gpt2", 3), file, "dynamo")
        self.assert_model_trains_alike(there, file, self.data("gpt2"), adam=True)

    def test_text_of_bytes(self):
        there, file = self.text_model()
        self.assert_model_trains_alike(there, file, self.text(), adam=True)

    def test_any_number_of_positions(self):
        there, file = self.text_model(any_length=True)
        self.assertIn("set model.context", weft("check", file, code=2))
        self.assert_model_trains_alike(there, file, self.text(), "--set", f"model.context={onnx_models.CONTEXT}",
                                       adam=True)

    def test_generates_the_most_probable_tokens_of_pytorch(self):
        model = onnx_models.Gpt2(vocabulary=256)
        inputs, targets, source = self.text()
        optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
        for _ in range(150):  # it then writes words
            functional.cross_entropy(model(inputs).flatten(0, -2), targets.flatten()).backward()
            optimizer.step()
            optimizer.zero_grad()
        file, run = self.folder / "bytes.onnx", self.folder / "run"
        onnx_models.export(copy.deepcopy(model), onnx_models.inputs_for("gpt2", 3), file, "script")
        weft("train", file, *self.settings(source, STILL), "--run-dir", run)
        model.eval()
        tokens = list(b"the ")
        with torch.no_grad():
            for _ in range(3 * onnx_models.CONTEXT):  # the context slides by one
                tokens.append(model(torch.tensor([tokens[-onnx_models.CONTEXT:]]))[0, -1].argmax().item())
        written = weft("generate", run, "--prompt", "the ", "--temperature", "0", "--tokens", 3 * onnx_models.CONTEXT)
        self.assertEqual(written.split("\nCheckpoint: ")[0].rstrip("\n"), bytes(tokens).decode().rstrip("\n"))
        self.assertGreater(len(set(tokens)), 10)

    def test_tokens_of_another_vocabulary_are_refused(self):
        _, file = self.exported("gpt2", "script")
        self.assertIn("logits of 61 tokens, but the data has 256", weft(
            "plan", file, "--set", f"data.train={json.dumps(self.text()[2])}", code=2))


class Mesh(Case):
    """The same on two devices that share the batch."""


def add_cases():
    for name in TRAINED:
        for exporter in onnx_models.OPSET:
            for adam in (False, True):
                def test(self, name=name, exporter=exporter, adam=adam):
                    self.assert_trains_alike(name, exporter, adam=adam)
                setattr(Training, f"test_{name}_{exporter}_{'adamw' if adam else 'sgd'}", test)

        def on_mesh(self, name=name):
            self.assert_trains_alike(name, "script", "--devices", "cpu:2")
        setattr(Mesh, f"test_{name}", on_mesh)


add_cases()


class Logits(Case):
    """What a model is trained to, saved and asked, is what PyTorch's is."""

    def probabilities(self, name, exporter):
        model, file = self.exported(name, exporter, still=True)
        inputs, _, source = self.data(name)
        run = self.folder / "run"
        weft("train", file, *self.settings(source, STILL), "--run-dir", run)
        model.eval()
        with torch.no_grad():
            self.assert_gives(run, model(inputs))

    def assert_gives(self, run, logits):
        document = json.loads(weft("predict", run, f"0-{SAMPLES - 1}", "--split", "test", "--from", "latest",
                                   "--json"))
        here = np.array([sample["values"] for sample in document["predictions"]])
        there = torch.log_softmax(logits if logits.ndim == 2 else logits[:, -1], -1).numpy()
        self.assertLess(np.abs(np.log(here) - there).max(), TOLERANCE)
        self.assertGreater(np.abs(there[0] - there[1]).max(), 100 * TOLERANCE)

    def test_each_model_by_each_exporter(self):
        for name in TRAINED:
            for exporter in onnx_models.OPSET:
                with self.subTest(name=name, exporter=exporter):
                    self.setUp()
                    self.probabilities(name, exporter)

    def test_every_operator_set_gives_the_logits_of_onnxruntime(self):
        cases = [(exporter, opset) for exporter, sets in OPERATOR_SETS.items() for opset in sets]
        for name, (exporter, opset) in itertools.product(TRAINED, cases):
            with self.subTest(name=name, exporter=exporter, opset=opset):
                self.setUp()
                file, run = self.folder / "model.onnx", self.folder / "run"
                model = onnx_models.made(name)
                self.measured(model)
                onnx_models.export(model, onnx_models.inputs_for(name, 3), file, exporter, opset, training=False)
                self.assertEqual([one.version for one in onnx.load(file).opset_import if not one.domain], [opset])
                inputs, _, source = self.data(name)
                weft("train", file, *self.settings(source, STILL), "--max-steps", 0, "--run-dir", run)
                session = onnxruntime.InferenceSession(str(file), providers=["CPUExecutionProvider"])
                logits = torch.tensor(session.run(None, {"inputs": inputs.numpy()})[0])
                self.assert_gives(run, logits)


if __name__ == "__main__":
    weft_program.program = sys.argv.pop(1)
    unittest.main()
