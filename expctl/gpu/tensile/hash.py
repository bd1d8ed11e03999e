"""Detect the hash that ends a Tensile name too long for a file name: 48 characters of the name, then 43 in base64."""

import re

from expctl.gpu.tensile.keys import Key

SHORTENED_AT = 48
HASH_LETTERS = 43
"""Length of a hash: 32 bytes in base64, written with `_` and `-`."""
LIKE_KEYS_MOST = 0.25
"""Largest share of a hash's letters that may look like keys by chance."""
KEY_LIKE = re.compile(r"\d?[A-Z]+(?:n?\d+|\d+p\d+|n\d+p\d+)?", re.ASCII)
"""Matches a key as generators write it: capitals, then a number, with -1 as n1 and 1.25 as 1p25."""


def hash_pieces(bare: str, keys: tuple[Key, ...]) -> int:
    """Return how many of the last `keys` (parsed from the kernel name `bare`) are in truth pieces of a hash; 0 without a hash.

    Generators cut a long name after 48 characters and append a hash of 43. The rest after 48 characters is taken for a hash if
    at most a quarter of its letters happen to form known keys, or none if it is cut short (by a profiler).
    """
    pieces = [piece for piece in bare[SHORTENED_AT:].split("_") if piece]
    last: list[Key] = []
    while keys[len(last) :] and sum(key.token.count("_") + 1 for key in last) < len(pieces):
        last.insert(0, keys[-1 - len(last)])
    if not last or last[0].known or not "_".join(key.token for key in last).endswith("_".join(pieces)):
        return 0
    letters = sum(len(key.token) for key in last if key.known)
    most = HASH_LETTERS * LIKE_KEYS_MOST if len(bare) == SHORTENED_AT + HASH_LETTERS else 0
    written = len(bare) > SHORTENED_AT + HASH_LETTERS or letters > most or all(map(KEY_LIKE.fullmatch, pieces))
    return 0 if written else len(last)
