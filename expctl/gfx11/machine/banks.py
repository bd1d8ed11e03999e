"""Count the passes that the LDS needs to serve one access: each of its 32 banks of 4 bytes delivers one word per pass.

An access is served in groups of lanes: all 32 lanes if it takes up to 4 bytes per lane, 16 lanes for 8 bytes, 8 lanes for 16
bytes. Lanes that access the same word share it. A group takes as many passes as the busiest bank has different words to
deliver, and at least one. It is a model of conflicts, not of time.
"""

from __future__ import annotations

import numpy as np

from expctl.gfx11.machine.arrays import Flags, Indices

BANKS, WORD = 32, 4


def passes(addresses: Indices, lanes: Flags, width: int) -> tuple[int, int]:
    """Return how many passes the LDS needs for an access, and how many it would need without bank conflicts. `addresses` are
    byte addresses (32,), `width` bytes are accessed at each; lanes whose flag in `lanes` is not set are ignored.
    """
    group = 32 if width <= WORD else max(8, 32 * WORD // width)
    needed = least = 0
    for first in range(0, 32, group):
        active = addresses[first : first + group][lanes[first : first + group]]
        if len(active) == 0:
            continue
        begin, end = active // WORD, (active + width - 1) // WORD
        words = set()
        for offset in range(int((end - begin).max()) + 1):
            words.update((begin + offset)[begin + offset <= end].tolist())
        busiest = np.bincount(np.fromiter(words, dtype=np.int64) % BANKS, minlength=BANKS).max()
        needed += int(busiest)
        least += -(-len(set(active.tolist())) * width // (WORD * BANKS))
    return needed, least
