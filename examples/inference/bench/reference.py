"""The transformer of model.py in plain torch, sharing no code with it: each version's outputs are held against its logits."""

import torch


def logits(shape, weights, tokens, cache, start):
    """Return the logits after the last of `tokens`, in the type of the weights. The cache isn't changed."""
    length, size = tokens.shape[1], shape.head_size
    cache, x = cache.clone(), weights["embedding"][tokens]
    for number in range(shape.layers):
        own = {name: weights[f"block{number}.{name}"] for name in BLOCK}
        y = normal(x, own["before"])
        q, k, v = (split(y @ own[name].T, size) for name in ("query", "key", "value"))
        cache[number, 0, :, :, start : start + length] = turned(k, start)
        cache[number, 1, :, :, start : start + length] = v
        mixed = attention(turned(q, start), cache[number, :, :, :, : start + length], start)
        x = x + mixed @ own["out"].T
        y = normal(x, own["between"])
        x = x + (torch.nn.functional.silu(y @ own["gate"].T) * (y @ own["up"].T)) @ own["down"].T
    return normal(x[:, -1], weights["after"]) @ weights["head"].T


BLOCK = ("before", "query", "key", "value", "out", "between", "gate", "up", "down")


def split(x, size):
    """Return (batch, length, heads x size) as (batch, heads, length, size)."""
    return x.unflatten(-1, (-1, size)).transpose(1, 2)


def normal(x, weight):
    """Return `x` divided by its root mean square, times `weight`."""
    return x / (x.square().mean(-1, keepdim=True) + 1e-6).sqrt() * weight


def turned(x, start):
    """Return the pairs (i, i + size / 2) of each head, as complex numbers, turned by the angle of their position."""
    half = x.shape[-1] // 2
    rates = 10000.0 ** (-torch.arange(half, dtype=x.dtype, device=x.device) / half)
    angle = torch.arange(start, start + x.shape[-2], dtype=x.dtype, device=x.device)[:, None] * rates
    pairs = torch.complex(x[..., :half], x[..., half:]) * torch.polar(torch.ones_like(angle), angle)
    return torch.cat([pairs.real, pairs.imag], dim=-1)


def attention(q, cache, start):
    """Return what each query head sees in its keys and values, as (batch, length, width)."""
    group = q.shape[1] // cache.shape[2]
    heads = []
    for head in range(q.shape[1]):
        keys, values = cache[0, :, head // group], cache[1, :, head // group]
        scores = q[:, head] @ keys.mT / q.shape[-1] ** 0.5
        future = torch.ones_like(scores, dtype=torch.bool).triu(start + 1)
        heads.append(torch.softmax(scores.masked_fill(future, -torch.inf), dim=-1) @ values)
    return torch.cat(heads, dim=-1)
