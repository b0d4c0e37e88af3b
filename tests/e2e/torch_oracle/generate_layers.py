# SPDX-License-Identifier: Apache-2.0
"""Writes layers_image.json and layers_sequence.json with their arrays: ten training steps of two
small stacks of layers made of PyTorch's own modules: grouped, depthwise and dilated convolutions,
weight and spectral normalisation; LSTM, GRU and multi-head attention.

    python3 generate_layers.py        # needs torch and numpy

Each module says where its tensors stand among those of the engine, and in which layout.
"""
import hashlib
import json
import math
import pathlib

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.utils import parametrizations

from generate import Arrays, HERE, STEPS, config, initial

BATCH, CLASSES, RATE = 8, 4, 0.05


class Same(nn.Module):
    """A convolution padded so that it gives ceil(size / stride) points, the odd one at the end."""

    def __init__(self, *channels, kernel, stride=1, dilation=1, groups=1):
        super().__init__()
        self.conv = nn.Conv2d(*channels, kernel, stride=stride, dilation=dilation, groups=groups)

    def forward(self, x):
        pads = []
        for size in (x.shape[3], x.shape[2]):
            stride, reach = self.conv.stride[0], (self.conv.kernel_size[0] - 1) * self.conv.dilation[0]
            total = max((math.ceil(size / stride) - 1) * stride + reach + 1 - size, 0)
            pads += [total // 2, total - total // 2]
        return self.conv(F.pad(x, pads))


KERNEL = (lambda w: w.permute(2, 3, 1, 0), lambda w: w.permute(3, 2, 0, 1))
MATRIX = (lambda w: w.T, lambda w: w.T)
VECTOR = (lambda w: w, lambda w: w)


def column(module):
    """Lengths of outputs, which PyTorch keeps with the rank of the weight."""
    shape = module.parametrizations.weight.original0.shape
    return lambda g: g.reshape(-1), lambda g: g.reshape(shape)


def kernel_vector(module):
    """A vector over what a window reads: [I, kh, kw] in PyTorch, [kh, kw, I] here."""
    _, inputs, height, width = module.weight.shape
    return (lambda v: v.reshape(inputs, height, width).permute(1, 2, 0).reshape(-1),
            lambda v: v.reshape(height, width, inputs).permute(2, 0, 1).reshape(-1))


def spectral(module, name, layout, left):
    held = module.parametrizations.weight
    return [(name + ".weight", held.original, layout), (name + ".bias", module.bias, VECTOR),
            (name + ".left", held[0]._v, left), (name + ".right", held[0]._u, VECTOR)]


def image_stack():
    depthwise = Same(4, 8, kernel=3, stride=2, groups=4)
    grouped = Same(8, 6, kernel=3, dilation=2, groups=2)
    spread = Same(6, 5, kernel=2, dilation=3)
    lengths, stretch = Same(5, 5, kernel=3), Same(5, 3, kernel=3)
    parametrizations.weight_norm(lengths.conv)
    parametrizations.spectral_norm(stretch.conv)
    last = parametrizations.spectral_norm(nn.Linear(5 * 4 * 3, CLASSES))

    def forward(x):
        x = x.permute(0, 3, 1, 2)
        for module in (depthwise, grouped, spread, lengths, stretch):
            x = torch.tanh(module(x))
        return last(x.permute(0, 2, 3, 1).flatten(1))

    tensors = []
    for i, module in ((0, depthwise), (2, grouped), (4, spread)):
        tensors += [(f"layers.{i}.weight", module.conv.weight, KERNEL),
                    (f"layers.{i}.bias", module.conv.bias, VECTOR)]
    held = lengths.conv.parametrizations.weight
    tensors += [("layers.6.weight", held.original1, KERNEL),
                ("layers.6.gain", held.original0, column(lengths.conv)),
                ("layers.6.bias", lengths.conv.bias, VECTOR)]
    tensors += spectral(stretch.conv, "layers.8", KERNEL, kernel_vector(stretch.conv))
    tensors += spectral(last, "layers.11", MATRIX, VECTOR)
    layers = []
    for settings in ({"channels": 8, "stride": 2, "groups": 4},
                     {"channels": 6, "dilation": 2, "groups": 2},
                     {"channels": 5, "kernel": 2, "dilation": 3},
                     {"channels": 5, "weight_norm": "weight"},
                     {"channels": 3, "weight_norm": "spectral"}):
        layers += [{"type": "conv2d", **settings}, {"type": "tanh"}]
    layers += [{"type": "flatten"}, {"type": "linear", "weight_norm": "spectral"}]
    return forward, tensors, layers


def sequence_stack():
    lstm = nn.LSTM(3, 6, batch_first=True)
    gru = nn.GRU(6, 8, batch_first=True)
    attention = nn.MultiheadAttention(8, 2, batch_first=True)
    end = nn.GRU(8, 5, batch_first=True)
    last = nn.Linear(5, CLASSES)
    with torch.no_grad():
        lstm.bias_hh_l0.zero_()
    lstm.bias_hh_l0.requires_grad_(False)  # it is added to the other one, and nothing else
    hidden = torch.triu(torch.ones(7, 7, dtype=torch.bool), 1)

    def forward(x):
        x = gru(lstm(x)[0])[0]
        x = attention(x, x, x, attn_mask=hidden, need_weights=False)[0]
        return last(end(x)[0][:, -1])

    def recurrent(name, module, both):
        out = [(name + ".input.weight", module.weight_ih_l0, MATRIX),
               (name + ".input.bias", module.bias_ih_l0, VECTOR),
               (name + ".state.weight", module.weight_hh_l0, MATRIX)]
        return out + ([(name + ".state.bias", module.bias_hh_l0, VECTOR)] if both else [])

    tensors = recurrent("layers.0", lstm, False) + recurrent("layers.1", gru, True)
    for i, name in enumerate(("query", "key", "value")):
        rows = slice(8 * i, 8 * i + 8)
        tensors += [(f"layers.2.{name}.weight", (attention.in_proj_weight, rows), MATRIX),
                    (f"layers.2.{name}.bias", (attention.in_proj_bias, rows), VECTOR)]
    tensors += [("layers.2.output.weight", attention.out_proj.weight, MATRIX),
                ("layers.2.output.bias", attention.out_proj.bias, VECTOR)]
    tensors += recurrent("layers.3", end, True)
    tensors += [("layers.4.weight", last.weight, MATRIX), ("layers.4.bias", last.bias, VECTOR)]
    layers = [{"type": "lstm", "units": 6}, {"type": "gru", "units": 8},
              {"type": "multi_head_attention", "heads": 2, "causal": True},
              {"type": "gru", "units": 5, "output": "last"}, {"type": "linear"}]
    return forward, tensors, layers


def place(tensor):
    return tensor[0][tensor[1]] if isinstance(tensor, tuple) else tensor


def run(name, stack, shape, seed):
    rng = np.random.default_rng(seed)
    torch.manual_seed(seed)
    forward, tensors, layers = stack()
    arrays, losses, norms = Arrays(), [], []
    for key, tensor, (ours, theirs) in tensors:
        value = initial(rng, key, tuple(ours(place(tensor)).shape)).astype(np.float32)
        arrays.add("init/" + key, value)
        with torch.no_grad():
            place(tensor).copy_(theirs(torch.tensor(value)))
    owners = {id(t): t for t in (t[0] if isinstance(t, tuple) else t for _, t, _ in tensors)}
    trained = [t for t in owners.values() if t.requires_grad]
    optimizer = torch.optim.SGD(trained, lr=RATE, momentum=0.9)
    for step in range(STEPS):
        x = rng.normal(0, 1, (BATCH,) + shape).astype(np.float32)
        y = rng.integers(0, CLASSES, (BATCH,))
        arrays.add(f"inputs/{step}", x)
        arrays.add(f"targets/{step}", y.astype(np.int32))
        optimizer.zero_grad()
        loss = F.cross_entropy(forward(torch.tensor(x)), torch.tensor(y))
        loss.backward()
        norms.append(math.sqrt(sum((t.grad.double() ** 2).sum().item() for t in trained)))
        optimizer.step()
        losses.append(loss.item())
    for key, tensor, (ours, _) in tensors:
        arrays.add("final/" + key, ours(place(tensor)).detach().contiguous().numpy())
    document = config({"type": "sequential", "layers": layers},
                      {"type": "sgd", "learning_rate": RATE, "momentum": 0.9}, BATCH, BATCH, None,
                      None)
    script = pathlib.Path(__file__)
    document = {
        "torch": torch.__version__, "script": script.name,
        "script_sha256": hashlib.sha256(script.read_bytes()).hexdigest(), "config": document,
        "sample": {"input": list(shape), "target": [], "classes": CLASSES}, "losses": losses,
        "grad_norms": norms, "arrays": arrays.index}
    (HERE / f"{name}.json").write_text(json.dumps(document, indent=1) + "\n")
    (HERE / f"{name}.bin").write_bytes(bytes(arrays.bytes))
    print(name, ["%.6f" % v for v in losses])


if __name__ == "__main__":
    run("layers_image", image_stack, (9, 8, 4), 2400)
    run("layers_sequence", sequence_stack, (7, 3), 2401)
