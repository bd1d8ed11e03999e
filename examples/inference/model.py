"""A small decoder-only transformer, as a first version is written: what the experiments of this example change.

The harness gives random weights by name (`bench/weights.py`) and calls what `load` returns.
"""

import torch
from torch import nn
from torch.nn import functional as F


def settings():
    """Set what holds for the whole process, before anything is built."""
    torch.set_grad_enabled(False)


class Attention(nn.Module):
    """Attention in which several query heads share the keys and values of one head."""

    def __init__(self, shape, weights, name):
        super().__init__()
        self.heads, self.kv_heads, self.size = shape.heads, shape.kv_heads, shape.head_size
        self.load(weights, name)
        self.out = linear(weights[f"{name}.out"])

    def load(self, weights, name):
        self.query = linear(weights[f"{name}.query"])
        self.key = linear(weights[f"{name}.key"])
        self.value = linear(weights[f"{name}.value"])

    def project(self, x):
        """Return queries, keys and values of `x` (batch, length, width), each (batch, length, heads x size)."""
        return self.query(x), self.key(x), self.value(x)

    def forward(self, x, turn, mask, cache, start):
        batch, length, _ = x.shape
        q, k, v = (each.view(batch, length, -1, self.size).transpose(1, 2) for each in self.project(x))
        q, k = rotate(q, turn), rotate(k, turn)
        cache[0, :, :, start : start + length] = k
        cache[1, :, :, start : start + length] = v
        mixed = self.mix(q, cache[0, :, :, : start + length], cache[1, :, :, : start + length], mask)
        return self.out(mixed.transpose(1, 2).reshape(batch, length, -1))

    def shared(self, x):
        """Return keys or values (batch, kv_heads, positions, size) for each query head."""
        return x.repeat_interleave(self.heads // self.kv_heads, dim=1)

    def mix(self, q, k, v, mask):
        """Return the values, weighted by the softmax of the masked scores: (batch, heads, length, size)."""
        k, v = self.shared(k), self.shared(v)
        scores = q @ k.transpose(-1, -2) / self.size**0.5
        scores = scores.masked_fill(~mask, float("-inf"))
        return torch.softmax(scores, dim=-1) @ v


class Gated(nn.Module):
    """The feed-forward part: silu(gate(x)) x up(x), and down again."""

    def __init__(self, weights, name):
        super().__init__()
        self.load(weights, name)
        self.down = linear(weights[f"{name}.down"])

    def load(self, weights, name):
        self.gate = linear(weights[f"{name}.gate"])
        self.up = linear(weights[f"{name}.up"])

    def hidden(self, x):
        return F.silu(self.gate(x)) * self.up(x)

    def forward(self, x):
        h = self.hidden(x)
        return self.down(h)


class Norm(nn.Module):
    """Root mean square normalisation."""

    def __init__(self, weight):
        super().__init__()
        self.weight = nn.Parameter(weight, requires_grad=False)

    def forward(self, x):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * self.weight


class Block(nn.Module):
    def __init__(self, shape, weights, name):
        super().__init__()
        self.before, self.attention = Norm(weights[f"{name}.before"]), Attention(shape, weights, name)
        self.between, self.gated = Norm(weights[f"{name}.between"]), Gated(weights, name)

    def forward(self, x, turn, mask, cache, start):
        x = x + self.attention(self.before(x), turn, mask, cache, start)
        return x + self.gated(self.between(x))


class Transformer(nn.Module):
    """Call it with tokens (batch, length), the cache of keys and values (layers, 2, batch, kv_heads, positions, size), which
    holds `start` positions and gets `length` more, and `start`. Returns the logits after the last token: (batch, vocabulary).
    """

    def __init__(self, shape, weights):
        super().__init__()
        self.embedding = nn.Embedding.from_pretrained(weights["embedding"])
        self.blocks = nn.ModuleList(Block(shape, weights, f"block{number}") for number in range(shape.layers))
        self.after, self.head = Norm(weights["after"]), linear(weights["head"])
        self.register_buffer("turns", angles(shape), persistent=False)

    def forward(self, tokens, cache, start):
        length = tokens.shape[1]
        end = start + length
        positions = torch.arange(end, device=tokens.device)
        mask = positions[None, :] <= positions[start:, None]
        x = self.embedding(tokens)
        for number, block in enumerate(self.blocks):
            x = block(x, self.turns[start:end], mask, cache[number], start)

        return self.head(self.after(x))[:, -1]


def linear(weight):
    """Return a linear layer without bias with this `weight` (outputs, inputs)."""
    made = nn.Linear(weight.shape[1], weight.shape[0], bias=False, device="meta")
    made.weight = nn.Parameter(weight, requires_grad=False)
    return made


def angles(shape):
    """Return the angles by which halves of a head turn at each position: cosine and sine, (positions, 2, size / 2)."""
    rates = 10000.0 ** (-torch.arange(0, shape.head_size, 2) / shape.head_size)
    turned = torch.arange(shape.positions)[:, None] * rates
    return torch.stack([turned.cos(), turned.sin()], dim=1)


def rotate(x, turn):
    """Turn the halves of each head of `x` (batch, heads, length, size) by `turn` (length, 2, size / 2)."""
    cos, sin = turn[:, 0], turn[:, 1]
    a, b = x.chunk(2, dim=-1)
    return torch.cat([a * cos - b * sin, a * sin + b * cos], dim=-1)


def run(model):
    """Return what is called for each step of inference."""
    return model


def load(shape, weights, device):
    """Return a function of (tokens, cache, start) that answers with logits, on `device`."""
    settings()
    with torch.device(device):
        model = Transformer(shape, {name: weight.to(device) for name, weight in weights.items()}).to(device).eval()
    return torch.inference_mode()(run(model))
