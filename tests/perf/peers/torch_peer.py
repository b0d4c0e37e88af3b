#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""torch_peer.py MODEL eager|compile BATCH STEPS: see README.md."""
import statistics
import sys
import time

import torch
from torch import nn
from torch.nn import functional as F

GPTS = {"gpt2-124m": (12, 768, 12), "gpt2-355m": (24, 1024, 16)}
VOCABULARY, CONTEXT = 50257, 1024


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
    def __init__(self, layers, width, heads):
        super().__init__()
        self.tokens = nn.Embedding(VOCABULARY, width)
        self.positions = nn.Embedding(CONTEXT, width)
        self.blocks = nn.ModuleList(Block(width, heads) for _ in range(layers))
        self.norm = nn.LayerNorm(width)
        for table in (self.tokens, self.positions):
            nn.init.normal_(table.weight, std=0.02)

    def forward(self, ids):
        x = self.tokens(ids) + self.positions.weight[: ids.shape[1]]
        for block in self.blocks:
            x = block(x)
        return F.linear(self.norm(x), self.tokens.weight)


def made(name, batch):
    """The model, its inputs and its labels."""
    if name in GPTS:
        ids = torch.randint(VOCABULARY, (batch, CONTEXT + 1), device="cuda")
        return Gpt2(*GPTS[name]).cuda(), ids[:, :-1].contiguous(), ids[:, 1:].reshape(-1)
    if name == "resnet50":
        from torchvision.models import resnet50

        images = torch.randn(batch, 3, 224, 224, device="cuda").to(memory_format=torch.channels_last)
        model = resnet50().cuda().to(memory_format=torch.channels_last)
        return model, images, torch.randint(1000, (batch,), device="cuda")
    if name == "mlp":
        model = nn.Sequential(nn.Linear(784, 4096), nn.ReLU(), nn.Linear(4096, 4096), nn.ReLU(),
                              nn.Linear(4096, 10)).cuda()
        return model, torch.randn(batch, 784, device="cuda"), torch.randint(10, (batch,), device="cuda")
    raise SystemExit(f"there is no model {name}")


def main():
    name, mode, batch, steps = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    torch.manual_seed(0)
    model, inputs, labels = made(name, batch)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, weight_decay=0.1, fused=True)

    def loss_of(x, y):
        with torch.autocast("cuda", torch.bfloat16):
            logits = model(x)
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
        torch.cuda.synchronize()
        times.append((time.perf_counter() - begin) * 1e3)
        if step == 0:
            print("first", flush=True)
    print(f"step_ms {statistics.median(times[steps // 2:]):.4f}")


main()
