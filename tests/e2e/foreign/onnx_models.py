# SPDX-License-Identifier: Apache-2.0
"""Small models of PyTorch's, and their files by PyTorch's two exporters.

    python3 onnx_models.py FOLDER     writes <model>-<exporter>.onnx of every model, for tests/unit/onnx

Needs torch, onnx and onnxscript.
"""
import pathlib
import sys

import torch
from torch import nn
from torch.nn import functional

OPSET = {"script": 17, "dynamo": 18}
CONTEXT = 12
VOCABULARY = 61
CLASSES = 5


class Mlp(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 12), nn.GELU(), nn.LayerNorm(12),
                                    nn.Linear(12, CLASSES))

    def forward(self, x):
        return self.layers(x)


class Cnn(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(3, 8, 3, padding=1, bias=False)
        self.norm = nn.BatchNorm2d(8)
        self.second = nn.Conv2d(8, 10, 3, stride=2, padding=1)
        self.norm2 = nn.BatchNorm2d(10)
        self.head = nn.Linear(10, CLASSES)

    def forward(self, x):
        x = functional.max_pool2d(functional.relu(self.norm(self.first(x))), 2)
        x = functional.silu(self.norm2(self.second(x)))
        return self.head(functional.adaptive_avg_pool2d(x, 1).flatten(1))


def attention(q, k, v, causal):
    """As products, for operator sets below 14, for which no exporter knows PyTorch's own."""
    scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
    if causal:
        place = torch.arange(q.shape[-2])
        scores = scores.masked_fill(place[None] > place[:, None], float("-inf"))
    return scores.softmax(-1) @ v


class Block(nn.Module):
    def __init__(self, width, heads, causal):
        super().__init__()
        self.heads, self.causal, self.written_out = heads, causal, False
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        b, t, c = x.shape
        q, k, v = self.qkv(self.norm1(x)).split(c, dim=2)
        q, k, v = (y.view(b, t, self.heads, c // self.heads).transpose(1, 2) for y in (q, k, v))
        y = (attention(q, k, v, self.causal) if self.written_out
             else functional.scaled_dot_product_attention(q, k, v, is_causal=self.causal))
        x = x + self.out(y.transpose(1, 2).reshape(b, t, c))
        return x + self.down(functional.gelu(self.up(self.norm2(x)), approximate="tanh" if self.causal else "none"))


class Gpt2(nn.Module):
    def __init__(self, width=16, vocabulary=VOCABULARY):
        super().__init__()
        self.wte, self.wpe = nn.Embedding(vocabulary, width), nn.Embedding(CONTEXT, width)
        self.blocks = nn.ModuleList(Block(width, 2, True) for _ in range(2))
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, vocabulary, bias=False)
        self.head.weight = self.wte.weight

    def forward(self, tokens):
        x = self.wte(tokens) + self.wpe(torch.arange(tokens.shape[1], device=tokens.device))
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))


class Vit(nn.Module):
    def __init__(self, width=16):
        super().__init__()
        self.patches = nn.Conv2d(3, width, 4, stride=4)
        self.token = nn.Parameter(torch.randn(1, 1, width) * 0.1)
        self.places = nn.Parameter(torch.randn(1, 5, width) * 0.1)
        self.blocks = nn.ModuleList(Block(width, 2, False) for _ in range(2))
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, CLASSES)

    def forward(self, x):
        x = self.patches(x).flatten(2).transpose(1, 2)
        x = torch.cat([self.token.expand(x.shape[0], -1, -1), x], dim=1) + self.places
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x)[:, 0])


class Transformers(nn.Module):
    """GPT-2 as the library transformers has it; the newer exporter alone can write it."""

    def __init__(self):
        from transformers import GPT2Config, GPT2LMHeadModel
        super().__init__()
        self.model = GPT2LMHeadModel(GPT2Config(
            vocab_size=VOCABULARY, n_positions=CONTEXT, n_embd=16, n_layer=2, n_head=2, resid_pdrop=0, embd_pdrop=0,
            attn_pdrop=0, bos_token_id=None, eos_token_id=None))

    def forward(self, tokens):
        return self.model(input_ids=tokens, use_cache=False).logits


MODELS = {"mlp": Mlp, "cnn": Cnn, "gpt2": Gpt2, "vit": Vit}
SHAPES = {"mlp": (6,), "cnn": (3, 8, 8), "vit": (3, 8, 8)}


def made(name):
    torch.manual_seed(3)
    return MODELS[name]()


def inputs_for(name, samples):
    torch.manual_seed(4)
    return (torch.randint(VOCABULARY, (samples, CONTEXT)) if name == "gpt2"
            else torch.randn(samples, *SHAPES[name]))


def export(model, inputs, file, exporter, opset=None, any_length=False, training=True):
    """As a model in training: a batch normalisation stays one. `any_length`: of token sequences."""
    model.train(training)
    for module in model.modules():
        if isinstance(module, Block):
            module.written_out = opset is not None and opset < 14
    mode = torch.onnx.TrainingMode.TRAINING if training else torch.onnx.TrainingMode.EVAL
    axes = {0: "batch", 1: "positions"} if any_length else {0: "batch"}
    options = ({"dynamo": False, "training": mode, "do_constant_folding": False,
                "dynamic_axes": {"inputs": axes}} if exporter == "script"
               else {"dynamo": True, "dynamic_shapes": ({axis: torch.export.Dim(of) for axis, of in axes.items()},),
                     "external_data": False, "optimize": False, "verbose": False})
    torch.onnx.export(model, (inputs,), str(file), input_names=["inputs"], output_names=["logits"],
                      opset_version=opset or OPSET[exporter], **options)


if __name__ == "__main__":
    for model_name in MODELS:
        for exporter_name in OPSET:
            target = pathlib.Path(sys.argv[1]) / f"{model_name}-{exporter_name}.onnx"
            export(made(model_name), inputs_for(model_name, 2), target, exporter_name)
