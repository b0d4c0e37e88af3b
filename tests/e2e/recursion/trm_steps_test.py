# SPDX-License-Identifier: Apache-2.0
"""Updates of a Tiny Recursive Model against PyTorch, from the same weights and puzzles.

    python3 trm_steps_test.py WEFT

The model, its losses, halting and Adam-atan2 are written here from the paper and the published
program's description, in f64: nothing is taken from weft but start values, batches' order being that
of the file. First one update by plain gradient descent, whose differences are the gradients
themselves; then five by Adam-atan2, in which rows halt and take other samples. Then the same with
puzzles of several kinds, each of which has a learned row that follows the sign of its gradient. Prints
the figures. Needs torch and safetensors; exits 77 without them.
"""
import csv
import json
import math
import pathlib
import subprocess
import sys
import tempfile

try:
    import numpy
    import torch
    import torch.nn.functional as F
    from safetensors.torch import load_file
except ImportError as missing:
    print(f"SKIPPED: torch and safetensors are needed: {missing}")
    sys.exit(77)

TOLERANCE = 1e-5
# A gradient below it is rounding in f32, and Adam's first step is as long whatever its sign: what
# follows from such an element is compared with more room.
NOISE = 1e-6
AFTER_NOISE = 1e-3
BATCH = 6
STEPS = 5
WIDTH, HEADS, LAYERS, H_CYCLES, L_CYCLES, PREFIX, HALT_MAX = 64, 4, 2, 3, 2, 4, 3
BETA1, BETA2, DECAY, RATE = 0.9, 0.95, 0.1, 1e-4
VOCAB = 6  # pad, blank, 1 to 4
KINDS, ROW_RATE, ROW_DECAY = 9, 1e-2, 0.1  # of rows for kinds of puzzles
ROWS = "prefix.rows"


def weft(*arguments):
    run = subprocess.run([WEFT, *map(str, arguments)], capture_output=True, text=True, check=False,
                         timeout=600)
    if run.returncode != 0:
        raise AssertionError(f"weft {arguments} exited with {run.returncode}: {run.stdout}{run.stderr}")
    return run.stdout


def rms(x):
    return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-5)


def rotate(x):
    """Rotate-half, theta 10000; x [B, H, T, D]."""
    t, d = x.shape[-2:]
    angle = torch.outer(torch.arange(t, dtype=x.dtype),
                        10000.0 ** (-torch.arange(0, d, 2, dtype=x.dtype) / d))
    angle = torch.cat((angle, angle), -1)
    half = torch.cat((-x[..., d // 2:], x[..., :d // 2]), -1)
    return x * angle.cos() + half * angle.sin()


def swiglu(p, name, x):
    gate, up = (x @ p[name + ".up.weight"]).chunk(2, -1)
    return (F.silu(gate) * up) @ p[name + ".down.weight"]


def attention(p, name, x):
    b, t, c = x.shape
    q, k, v = (z.view(b, t, HEADS, c // HEADS).transpose(1, 2)
               for z in (x @ p[name + ".qkv.weight"]).split(c, -1))
    scores = rotate(q) @ rotate(k).transpose(-1, -2) / math.sqrt(c // HEADS)
    return (scores.softmax(-1) @ v).transpose(1, 2).reshape(b, t, c) @ p[name + ".output.weight"]


def stack(p, mixer, x):
    for i in range(LAYERS):
        if mixer == "mlp":
            turned = x.transpose(1, 2)
            x = rms(turned + swiglu(p, f"layers.{i}.positions", turned)).transpose(1, 2)
        else:
            x = rms(x + attention(p, f"layers.{i}.attention", x))
        x = rms(x + swiglu(p, f"layers.{i}.mlp", x))
    return x


def cycle(p, mixer, x, high, low):
    for _ in range(L_CYCLES):
        low = stack(p, mixer, low + (high + x))
    return stack(p, mixer, high + low), low


def embedded(p, inputs, kinds):
    """[B, PREFIX + N, C]: the row of the kind where there are such, zeros, cells"""
    x = F.pad(p["embedding.weight"][inputs], (0, 0, PREFIX, 0))
    if ROWS in p:
        x = x + F.pad(p[ROWS][kinds][:, None], (0, 0, 0, x.shape[1] - 1))
    return x * math.sqrt(WIDTH)


def step(p, mixer, inputs, kinds, high, low):
    """-> logits [B, N, V], q [B], high, low"""
    x = embedded(p, inputs, kinds)
    with torch.no_grad():
        for _ in range(H_CYCLES - 1):
            high, low = cycle(p, mixer, x, high, low)
    high, low = cycle(p, mixer, x, high.detach(), low.detach())
    q = (high[:, 0] @ p["halt.weight"] + p["halt.bias"])[:, 0]
    return high[:, PREFIX:] @ p["head.weight"], q, high, low


def stablemax(logits, labels):
    """-log of the label's share of s: per cell."""
    s = torch.where(logits >= 0, logits + 1, 1 / (1 - logits))
    shares = s / s.sum(-1, keepdim=True)
    return -shares.gather(-1, labels[..., None])[..., 0].log()


class Trainer:
    def __init__(self, start, mixer, puzzles):
        frozen = ("start.", "carry.", "held.")
        self.p = {name: value.double().requires_grad_() for name, value in start.items()
                  if not name.startswith(frozen) and "/" not in name}
        self.start = [start["start.high"].double(), start["start.low"].double()]
        self.mixer, self.puzzles, self.at = mixer, puzzles, 0
        self.done = torch.ones(BATCH, dtype=torch.bool)
        length = PREFIX + puzzles[0][0].numel()
        self.inputs = torch.zeros(BATCH, length - PREFIX, dtype=torch.long)
        self.labels = torch.zeros_like(self.inputs)
        self.kinds = torch.zeros(BATCH, dtype=torch.long)
        self.high = torch.zeros(BATCH, length, WIDTH, dtype=torch.double)
        self.low = torch.zeros_like(self.high)
        self.steps = torch.zeros(BATCH, dtype=torch.long)
        self.m = {name: torch.zeros_like(value) for name, value in self.p.items()}
        self.v = {name: torch.zeros_like(value) for name, value in self.p.items()}
        self.t = 0

    def gradients(self):
        """One step of every row: (reported loss, gradients)."""
        for row in range(BATCH):
            if self.done[row]:
                self.inputs[row], self.labels[row], self.kinds[row] = self.puzzles[self.at + row]
                self.high[row], self.low[row] = self.start
                self.steps[row] = 0
        self.at = (self.at + BATCH) % len(self.puzzles)
        logits, q, high, low = step(self.p, self.mixer, self.inputs, self.kinds, self.high,
                                    self.low)
        terms = stablemax(logits, self.labels)
        right = (logits.argmax(-1) == self.labels).all(-1).double()
        halting = F.binary_cross_entropy_with_logits(q, right, reduction="sum")
        loss = terms.mean(-1).sum()
        ((loss + 0.5 * halting) / BATCH).backward()
        self.high, self.low = high.detach(), low.detach()
        self.steps += 1
        self.done = (self.steps >= HALT_MAX) | (q.detach() > 0)
        gradients = {name: value.grad.clone() for name, value in self.p.items()}
        for value in self.p.values():
            value.grad = None
        return float(loss.detach()) / BATCH, gradients

    def update(self, gradients):
        self.t += 1
        with torch.no_grad():
            for name, theta in self.p.items():
                g = gradients[name]
                if name == ROWS:
                    seen = self.kinds.unique()
                    theta[seen] = theta[seen] * (1 - ROW_RATE * ROW_DECAY) - ROW_RATE * g[seen].sign()
                    continue
                theta *= 1 - RATE * DECAY
                self.m[name] = BETA1 * self.m[name] + (1 - BETA1) * g
                self.v[name] = BETA2 * self.v[name] + (1 - BETA2) * g * g
                angle = torch.atan2(self.m[name],
                                    self.v[name].sqrt() / math.sqrt(1 - BETA2 ** self.t))
                theta -= RATE / (1 - BETA1 ** self.t) * angle


def norm_of(gradients):
    return math.sqrt(sum(float(g.square().sum()) for g in gradients.values()))


def config(folder, puzzles, mixer, optimizer):
    return {"name": "trm", "seed": 3,
            "data": {"train": {"type": "sudoku", "path": str(folder / puzzles), "augment": False},
                     "validation": None, "test": None, "shuffle": False},
            "model": {"type": "trm", "mixer": mixer, "layers": LAYERS, "width": WIDTH, "heads": HEADS,
                      "h_cycles": H_CYCLES, "l_cycles": L_CYCLES, "prefix": PREFIX,
                      "halt_max_steps": HALT_MAX, "halt_exploration": 0.0},
            "loss": {"type": "stablemax"}, "metrics": ["accuracy"],
            "optimizer": optimizer, "lr_schedule": {"type": "constant"},
            "training": {"length": {"steps": STEPS}, "global_batch_size": BATCH, "max_grad_norm": None,
                         "precision": "f32"},
            "evaluation": {"samples": 0}}


def train(folder, name, settings, steps):
    path = folder / f"{name}.json"
    path.write_text(json.dumps(settings))
    weft("train", path, "--run-dir", folder / name, "--max-steps", steps)
    file = folder / f"{name}-{steps}.safetensors"
    weft("checkpoint", "export", folder / name, "--to", file, "--all")
    events = [json.loads(line) for line in (folder / name / "events.jsonl").read_text().splitlines()]
    return load_file(file), [event for event in events if event["event"] == "step"]


def compared(what, found, wanted, tolerance=TOLERANCE):
    off = abs(found - wanted) / max(1.0, abs(wanted))
    if not off <= tolerance:
        raise AssertionError(f"{what}: weft {found}, PyTorch {wanted}")
    return off


def check_cycles(run, trainer, weights):
    """What `weft predict` says of puzzles after every cycle, by the weights of the run."""
    puzzles = trainer.puzzles[:10]
    said = json.loads(weft("predict", run, f"0-{len(puzzles) - 1}", "--split", "train", "--json"))
    inputs = torch.stack([given for given, _, _ in puzzles])
    kinds = torch.tensor([kind for _, _, kind in puzzles])
    p = {name: weights[name].double() for name in trainer.p}
    length = PREFIX + inputs.shape[1]
    high, low = (value.expand(len(puzzles), length, WIDTH) for value in trainer.start)
    clear = 0
    with torch.no_grad():
        x = embedded(p, inputs, kinds)
        for at in range(HALT_MAX * H_CYCLES):
            high, low = cycle(p, trainer.mixer, x, high, low)
            logits = high[:, PREFIX:] @ p["head.weight"]
            q = (high[:, 0] @ p["halt.weight"] + p["halt.bias"])[:, 0]
            best = logits.topk(2, -1)
            for i, one in enumerate(said["predictions"]):
                compared(f"verdict on puzzle {i} after cycle {at}", one["verdicts"][at], float(q[i]),
                         AFTER_NOISE)
                for cell, found in enumerate(one["cycles"][at]):
                    if best.values[i, cell, 0] - best.values[i, cell, 1] > AFTER_NOISE:
                        clear += 1
                        wanted = "_.1234"[best.indices[i, cell, 0]]
                        if found != wanted:
                            raise AssertionError(f"puzzle {i}, cycle {at}, cell {cell}: {found}, not {wanted}")
    cells = len(puzzles) * inputs.shape[1] * HALT_MAX * H_CYCLES
    if clear < 0.9 * cells:
        raise AssertionError(f"only {clear} of {cells} guesses are clear: the comparison says little")
    print(f"{trainer.mixer}: {clear} guesses cycle by cycle and all verdicts are PyTorch's")


def tables(folder):
    """(question, answer, 0) of every puzzle in a table."""
    with open(folder / "train.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    cells = lambda text: torch.tensor([1 if c == "." else int(c) + 1 for c in text])
    return [(cells(row["question"]), cells(row["answer"]), 0) for row in rows]


def arrays(folder):
    """(question, answer, kind) of every puzzle in a published set, which is given kinds first."""
    part = folder / "train"
    inputs, labels = (torch.from_numpy(numpy.load(part / f"all__{name}.npy").astype(numpy.int64))
                      for name in ("inputs", "labels"))
    kinds = [i * i % KINDS for i in range(len(inputs))]
    numpy.save(part / "all__puzzle_identifiers.npy", numpy.array(kinds, dtype=numpy.int32))
    told = json.loads((part / "dataset.json").read_text())
    told["num_puzzle_identifiers"] = KINDS
    (part / "dataset.json").write_text(json.dumps(told))
    return list(zip(inputs, labels, kinds))


def check(folder, data, puzzles, mixer):
    """`data` is the folder of the puzzles."""
    weft_steps = lambda name, optimizer, steps: train(
        folder, f"{name}-{data}-{mixer}-{steps}", config(folder, data, mixer, optimizer), steps)
    sgd = {"type": "sgd", "momentum": 0, "learning_rate": 1.0, "weight_decay": 0}
    start, _ = weft_steps("sgd", sgd, 0)
    # Weights that say something of every sum: those of the verdict begin at 0.
    after, steps = weft_steps("sgd", sgd, 1)
    trainer = Trainer(start, mixer, puzzles)
    loss, gradients = trainer.gradients()
    worst = compared("loss", steps[0]["loss"], loss)
    worst = max(worst, compared("norm of all gradients", steps[0]["grad_norm"], norm_of(gradients)))
    for name, g in gradients.items():
        found = start[name].double() - after[name].double()
        worst = max(worst, compared(f"gradient norm of {name}", float(found.norm()), float(g.norm())))
        off = float((found - g).abs().max())
        if off > TOLERANCE:
            raise AssertionError(f"gradient of {name} is off by {off}")
    print(f"{data} {mixer}: loss, norm, {len(gradients)} gradient norms within {worst:.1e}")
    atan2 = {"type": "adam_atan2", "betas": [BETA1, BETA2], "learning_rate": RATE,
             "weight_decay": DECAY, "weight_decay_on": "all",
             "groups": [{"match": ROWS, "type": "sign_sgd", "learning_rate": ROW_RATE,
                         "weight_decay": ROW_DECAY}]}
    trainer = Trainer(start, mixer, puzzles)
    first, _ = weft_steps("atan2", atan2, 1)
    _, gradients = trainer.gradients()
    trainer.update(gradients)
    worst = 0.0
    for name, theta in trainer.p.items():
        off = (first[name].double() - theta.detach()).abs()
        told = (gradients[name].abs() > NOISE) | (gradients[name] == 0)
        worst = max(worst, float(off[told].max()))
    if worst > TOLERANCE:
        raise AssertionError(f"weights after an update are off by {worst}")
    print(f"{data} {mixer}: weights after an update within {worst:.1e}")
    final, steps = weft_steps("atan2", atan2, STEPS)
    trainer = Trainer(start, mixer, puzzles)
    taken = []
    for event in steps:
        loss, gradients = trainer.gradients()
        compared(f"loss of update {event['step']}", event["loss"], loss, AFTER_NOISE)
        compared(f"norm of update {event['step']}", event["grad_norm"], norm_of(gradients), AFTER_NOISE)
        trainer.update(gradients)
        dropped = 1 - (taken[-1] if taken else BATCH) / BATCH
        compared(f"rows dropped of update {event['step']}", event["metrics"]["train/rows_dropped"], dropped)
        taken.append(int(trainer.done.sum()))
    off = torch.cat([(final[name].double() - theta.detach()).abs().flatten()
                     for name, theta in trainer.p.items()])
    share = float((off > TOLERANCE).double().mean())
    if share > AFTER_NOISE or BATCH not in taken:
        raise AssertionError(f"{share:.2%} of the weights are off by more than {TOLERANCE}; rows done {taken}")
    check_cycles(folder / f"atan2-{data}-{mixer}-{STEPS}", trainer, final)
    print(f"{data} {mixer}: weights after {STEPS} updates off by more than {TOLERANCE}: {share:.1e}; rows done {taken}")


if __name__ == "__main__":
    WEFT = sys.argv[1]
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as name:
        place = pathlib.Path(name)
        weft("data", "make", "sudoku", place / "puzzles", "--side", 4, "--samples", 60, "--test", 0)
        weft("data", "make", "sudoku", place / "kinds", "--side", 4, "--samples", 60, "--test", 0, "--as", "npy")
        for kind in ("attention", "mlp"):
            check(place, "puzzles", tables(place / "puzzles"), kind)
        check(place, "kinds", arrays(place / "kinds"), "attention")
