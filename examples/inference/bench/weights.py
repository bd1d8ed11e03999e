"""The shape of the transformer and its random weights, which are the same for every version of the model."""

from dataclasses import dataclass

import torch


@dataclass(frozen=True)
class Shape:
    """Sizes of the model; `positions` is the most that its cache holds."""

    vocabulary: int = 1024
    width: int = 256
    layers: int = 2
    heads: int = 8
    kv_heads: int = 2
    hidden: int = 704
    positions: int = 128

    @property
    def head_size(self):
        return self.width // self.heads


def random_weights(shape):
    """Return float32 tensors by name, drawn from a fixed seed; matrices are (outputs, inputs)."""
    generator = torch.Generator().manual_seed(1)
    kv_width = shape.kv_heads * shape.head_size

    def matrix(outputs, inputs):
        return torch.randn(outputs, inputs, generator=generator) / inputs**0.5

    weights = {"embedding": torch.randn(shape.vocabulary, shape.width, generator=generator)}
    weights |= {"after": torch.ones(shape.width), "head": matrix(shape.vocabulary, shape.width)}
    for number in range(shape.layers):
        matrices = {
            "query": (shape.width, shape.width),
            "key": (kv_width, shape.width),
            "value": (kv_width, shape.width),
            "out": (shape.width, shape.width),
            "gate": (shape.hidden, shape.width),
            "up": (shape.hidden, shape.width),
            "down": (shape.width, shape.hidden),
        }
        weights |= {f"block{number}.{name}": matrix(*sizes) for name, sizes in matrices.items()}
        weights |= {f"block{number}.{name}": torch.ones(shape.width) for name in ("before", "between")}
    return weights
