#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""jax_peer.py MODEL BATCH STEPS [bf16|f32]: see README.md. JAX_PLATFORMS says where."""
import functools
import statistics
import sys
import time

import jax
import jax.numpy as jnp

# layers, width, heads, vocabulary, context
GPTS = {"gpt2-124m": (12, 768, 12, 50257, 1024), "gpt2-355m": (24, 1024, 16, 50257, 1024),
        "gpt-6x384": (6, 384, 6, 256, 256)}
MLPS = {"mlp": 4096, "mlp-512": 512}
PRODUCTS = jnp.float32 if sys.argv[4:] == ["f32"] else jnp.bfloat16
RATE, BETA1, BETA2, EPSILON, DECAY = 1e-4, 0.9, 0.999, 1e-8, 0.1


def norm(x, p):
    wide = x.astype(jnp.float32)
    wide = wide - wide.mean(-1, keepdims=True)
    wide = wide * jax.lax.rsqrt((wide * wide).mean(-1, keepdims=True) + 1e-5)
    return (wide * p["scale"] + p["shift"]).astype(PRODUCTS)


def linear(x, p):
    return x @ p["weight"].astype(PRODUCTS) + p["bias"].astype(PRODUCTS)


def gpt2(p, ids, heads):
    x = (p["tokens"][ids] + p["positions"][: ids.shape[1]]).astype(PRODUCTS)
    samples, positions, width = x.shape

    def block(x, p):
        parts = linear(norm(x, p["norm1"]), p["qkv"]).reshape(samples, positions, 3, heads, width // heads)
        kind = "cudnn" if jax.default_backend() == "gpu" else "xla"
        mixed = jax.nn.dot_product_attention(parts[:, :, 0], parts[:, :, 1], parts[:, :, 2],
                                             is_causal=True, implementation=kind)
        x = x + linear(mixed.reshape(samples, positions, width), p["out"])
        return x + linear(jax.nn.gelu(linear(norm(x, p["norm2"]), p["up"])), p["down"]), None

    x, _ = jax.lax.scan(block, x, p["blocks"])
    return norm(x, p["norm"]) @ p["tokens"].T.astype(PRODUCTS)


def gpt2_weights(key, layers, width, vocabulary, context):
    def weight(*shape):
        nonlocal key
        key, own = jax.random.split(key)
        return 0.02 * jax.random.normal(own, shape, jnp.float32)

    def dense(k, n):
        return {"weight": weight(layers, k, n), "bias": jnp.zeros((layers, n))}

    def norms(*lead):
        return {"scale": jnp.ones((*lead, width)), "shift": jnp.zeros((*lead, width))}

    blocks = {"norm1": norms(layers), "norm2": norms(layers), "qkv": dense(width, 3 * width),
              "out": dense(width, width), "up": dense(width, 4 * width), "down": dense(4 * width, width)}
    return {"tokens": weight(vocabulary, width), "positions": weight(context, width), "blocks": blocks,
            "norm": norms()}


def mlp(p, x):
    x = x.astype(PRODUCTS)
    for layer in p[:-1]:
        x = jax.nn.relu(linear(x, layer))
    return linear(x, p[-1])


def made(name, batch):
    """The model, its weights, inputs and labels."""
    key = jax.random.key(0)
    if name in GPTS:
        layers, width, heads, vocabulary, context = GPTS[name]
        ids = jax.random.randint(key, (batch, context + 1), 0, vocabulary)
        weights = gpt2_weights(key, layers, width, vocabulary, context)
        return functools.partial(gpt2, heads=heads), weights, ids[:, :-1], ids[:, 1:]
    if name in MLPS:
        sizes = [784, MLPS[name], MLPS[name], 10]
        weights = [{"weight": 0.02 * jax.random.normal(key, (k, n)), "bias": jnp.zeros(n)}
                   for k, n in zip(sizes, sizes[1:])]
        return mlp, weights, jax.random.normal(key, (batch, 784)), jax.random.randint(key, (batch,), 0, 10)
    raise SystemExit(f"there is no model {name}")


def main():
    name, batch, steps = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    model, weights, inputs, labels = made(name, batch)
    first, second = (jax.tree.map(jnp.zeros_like, weights) for _ in range(2))
    state = (weights, first, second, jnp.zeros((), jnp.int32))

    def loss_of(weights, x, y):
        logits = model(weights, x).astype(jnp.float32)
        picked = jnp.take_along_axis(logits, y[..., None], -1)[..., 0]
        return (jax.nn.logsumexp(logits, -1) - picked).mean()

    @functools.partial(jax.jit, donate_argnums=0)
    def update(state, x, y):
        weights, first, second, step = state
        loss, grads = jax.value_and_grad(loss_of)(weights, x, y)
        size = jnp.sqrt(sum(jnp.sum(g * g) for g in jax.tree.leaves(grads)))
        grads = jax.tree.map(lambda g: g * jnp.minimum(1.0, 1.0 / (size + 1e-6)), grads)
        step = step + 1
        first = jax.tree.map(lambda m, g: BETA1 * m + (1 - BETA1) * g, first, grads)
        second = jax.tree.map(lambda v, g: BETA2 * v + (1 - BETA2) * g * g, second, grads)
        weights = jax.tree.map(
            lambda w, m, v: w - RATE * (m / (1 - BETA1**step) / (jnp.sqrt(v / (1 - BETA2**step)) + EPSILON)
                                        + DECAY * w), weights, first, second)
        return (weights, first, second, step), loss

    times = []
    for step in range(steps):
        begin = time.perf_counter()
        state, loss = update(state, inputs, labels)
        loss.block_until_ready()
        times.append((time.perf_counter() - begin) * 1e3)
        if step == 0:
            print("first", flush=True)
    print(f"step_ms {statistics.median(times[steps // 2:]):.4f}")


main()
