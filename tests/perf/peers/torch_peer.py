#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""torch_peer.py MODEL eager|compile BATCH STEPS [cuda|cpu] [bf16|f32]: see README.md."""
import statistics
import sys
import time

import torch
from torch import nn
from torch.nn import functional as F

# layers, width, heads, vocabulary, context
GPTS = {"gpt2-124m": (12, 768, 12, 50257, 1024), "gpt2-355m": (24, 1024, 16, 50257, 1024),
        "gpt-6x384": (6, 384, 6, 256, 256)}
MLPS = {"mlp": 4096, "mlp-512": 512}


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        samples, positions, width = x.shape
        parts = self.qkv(self.norm1(x)).view(samples, positions, 3, self.heads, width // self.heads)
        q, k, v = parts.permute(2, 0, 3, 1, 4)
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(mixed.transpose(1, 2).reshape(samples, positions, width))
        return x + self.down(F.gelu(self.up(self.norm2(x)), approximate="tanh"))


class Gpt2(nn.Module):
    def __init__(self, layers, width, heads, vocabulary, context):
        super().__init__()
        self.tokens = nn.Embedding(vocabulary, width)
        self.positions = nn.Embedding(context, width)
        self.blocks = nn.ModuleList(Block(width, heads) for _ in range(layers))
        self.norm = nn.LayerNorm(width)
        for table in (self.tokens, self.positions):
            nn.init.normal_(table.weight, std=0.02)

    def forward(self, ids):
        x = self.tokens(ids) + self.positions.weight[: ids.shape[1]]
        for block in self.blocks:
            x = block(x)
        return F.linear(self.norm(x), self.tokens.weight)


def rms(x):
    return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-5)


class Gated(nn.Module):
    """down(silu(gate) * up), both of one product; two thirds of four widths, rounded up to 256."""

    def __init__(self, width):
        super().__init__()
        inner = -(-(width * 8 // 3) // 256) * 256
        self.up, self.down = nn.Linear(width, 2 * inner, bias=False), nn.Linear(inner, width, bias=False)

    def forward(self, x):
        gate, up = self.up(x).chunk(2, -1)
        return self.down(F.silu(gate) * up)


class Trm(nn.Module):
    """One step of a Tiny Recursive Model for boards of 9 by 9 that networks mix (Jolicoeur-Martineau 2025), its
    answer and scratch pad carried from step to step. Its loss is stablemax with a verdict, as published."""

    def __init__(self, width=512, cells=81, prefix=16, vocabulary=11, answers=3, thoughts=6):
        super().__init__()
        self.width, self.prefix, self.answers, self.thoughts = width, prefix, answers, thoughts
        self.cells = nn.Embedding(vocabulary, width)
        self.layers = nn.ModuleList(nn.ModuleList((Gated(prefix + cells), Gated(width))) for _ in range(2))
        self.head, self.halt = nn.Linear(width, vocabulary, bias=False), nn.Linear(width, 2)
        self.high = self.low = None
        nn.init.normal_(self.cells.weight, std=width ** -0.5)

    def stack(self, x):
        for across, along in self.layers:
            turned = x.transpose(1, 2)
            x = rms(turned + across(turned)).transpose(1, 2)
            x = rms(x + along(x))
        return x

    def cycle(self, x, high, low):
        for _ in range(self.thoughts):
            low = self.stack(low + (high + x))
        return self.stack(high + low), low

    def forward(self, boards):
        x = F.pad(self.cells(boards), (0, 0, self.prefix, 0)) * self.width ** 0.5
        high, low = (torch.randn_like(x), torch.randn_like(x)) if self.high is None else (self.high, self.low)
        with torch.no_grad():
            for _ in range(self.answers - 1):
                high, low = self.cycle(x, high, low)
        high, low = self.cycle(x, high, low)
        self.high, self.low = high.detach(), low.detach()
        return self.head(high[:, self.prefix:]), self.halt(high[:, 0])

    @staticmethod
    def loss(said, labels):
        logits, verdict = (part.double() for part in said)
        shares = torch.where(logits >= 0, logits + 1, 1 / (1 - logits))
        of_label = shares.gather(-1, labels[..., None])[..., 0] / shares.sum(-1)
        right = (logits.argmax(-1) == labels).all(-1).double()
        return -of_label.log().mean() + 0.5 * F.binary_cross_entropy_with_logits(verdict[:, 0], right)


def convolutional():
    """3x3 convolutions of 64, 64, 128, 128, 256, 256 channels on images of 32 by 32."""
    layers, before = [], 3
    for channels in (64, 128, 256):
        for _ in range(2):
            layers += [nn.Conv2d(before, channels, 3, padding=1), nn.BatchNorm2d(channels), nn.ReLU()]
            before = channels
        layers.append(nn.MaxPool2d(2))
    return nn.Sequential(*layers, nn.Flatten(), nn.Linear(256 * 4 * 4, 10))


def on_images(name):
    """The model, the extent of its images, and its classes."""
    if name == "cnn":
        return convolutional(), 32, 10
    import torchvision.models as zoo

    if name == "resnet50":
        return zoo.resnet50(), 224, 1000
    if name == "resnet18-cifar":
        model = zoo.resnet18(num_classes=10)
        model.conv1, model.maxpool = nn.Conv2d(3, 64, 3, padding=1, bias=False), nn.Identity()
        return model, 32, 10
    if name == "vit-ti16":
        return zoo.VisionTransformer(224, 16, 12, 3, 192, 768), 224, 1000
    raise SystemExit(f"there is no model {name}")


def made(name, batch, device):
    """The model, its inputs and its labels."""
    if name in GPTS:
        *_, vocabulary, context = GPTS[name]
        ids = torch.randint(vocabulary, (batch, context + 1), device=device)
        return Gpt2(*GPTS[name]).to(device), ids[:, :-1].contiguous(), ids[:, 1:].reshape(-1)
    if name == "trm-9x9":
        boards = torch.randint(11, (2, batch, 81), device=device)
        return Trm().to(device), boards[0], boards[1]
    if name in MLPS:
        width = MLPS[name]
        model = nn.Sequential(nn.Linear(784, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(),
                              nn.Linear(width, 10)).to(device)
        return model, torch.randn(batch, 784, device=device), torch.randint(10, (batch,), device=device)
    model, extent, classes = on_images(name)
    images = torch.randn(batch, 3, extent, extent, device=device).to(memory_format=torch.channels_last)
    return (model.to(device).to(memory_format=torch.channels_last), images,
            torch.randint(classes, (batch,), device=device))


def main():
    name, mode, batch, steps = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    device = sys.argv[5] if len(sys.argv) > 5 else "cuda"
    brief = len(sys.argv) <= 6 or sys.argv[6] == "bf16"
    torch.manual_seed(0)
    model, inputs, labels = made(name, batch, device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, weight_decay=0.1, fused=True)

    def loss_of(x, y):
        with torch.autocast(device, torch.bfloat16, enabled=brief):
            logits = model(x)
        if hasattr(model, "loss"):
            return model.loss(logits, y)
        return F.cross_entropy(logits.view(-1, logits.shape[-1]).float(), y)

    if mode == "compile":
        loss_of = torch.compile(loss_of)
    times = []
    for step in range(steps):
        begin = time.perf_counter()
        optimizer.zero_grad(set_to_none=True)
        loss_of(inputs, labels).backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        if device == "cuda":
            torch.cuda.synchronize()
        times.append((time.perf_counter() - begin) * 1e3)
        if step == 0:
            print("first", flush=True)
    print(f"step_ms {statistics.median(times[steps // 2:]):.4f}")


main()
