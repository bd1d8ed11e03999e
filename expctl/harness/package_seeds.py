"""Seeds the generators of torch and cupy before a draw, because arrays on a GPU are drawn by them."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import numpy as np


def seed_packages(entropy: Sequence[int]) -> None:
    """Seed the generators of those packages that the author has imported."""
    torch, cupy = (sys.modules.get(name) for name in ("torch", "cupy"))
    if torch is None and cupy is None:
        return
    seed = int(np.random.SeedSequence(entropy).generate_state(1)[0])
    if torch is not None:
        torch.manual_seed(seed)
    if cupy is not None:
        cupy.random.seed(seed)
