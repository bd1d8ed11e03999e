"""v_perm_b32: each of the four bytes of the result is selected from the eight bytes of two sources."""

from functools import lru_cache

import numpy as np

from expctl.gfx11.machine.arrays import Anything, Bytes


def permute_bytes(a: Anything, b: Anything, selector: Anything) -> Anything:
    """Return v_perm_b32 of lane arrays: byte i of `selector` selects byte i of the result.

    0..3 select a byte of b, 4..7 a byte of a; 8..11 fill the byte with the sign of byte 1, 3, 5 or 7; 12 gives 0x00, 13 and
    above 0xff.
    """
    where, picked, ones = _picks(selector.tobytes())
    pool = np.empty((len(a), 2), dtype=np.uint32)
    pool[:, 0] = b
    pool[:, 1] = a
    if where is None:
        return _permute_signs(pool.view(np.uint8), selector)
    return (pool.reshape(-1).view(np.uint8).take(where).view(np.uint32) & picked) | ones


@lru_cache(maxsize=256)
def _picks(selector: bytes) -> tuple[Anything, Anything, Anything]:
    """Translate the selectors of lanes; cached, because most selectors are constants.

    Returns indices into the flat (lanes, 8) array of source bytes (None if a selector asks for a sign), a mask of the bytes
    that are taken from there, and a mask of those that are 0xff.
    """
    names = np.frombuffer(selector, dtype=np.uint8).reshape(-1, 4)
    places = np.arange(len(names))[:, None] * 8 + np.minimum(names, 7)
    picked = np.where(names < 8, 0xFF, 0).astype(np.uint8).reshape(-1).view(np.uint32)
    ones = np.where(names > 12, 0xFF, 0).astype(np.uint8).reshape(-1).view(np.uint32)
    has_signs = ((names >= 8) & (names < 12)).any()
    return None if has_signs else places.reshape(-1), picked, ones


def _permute_signs(pool: Bytes, selector: Anything) -> Anything:
    signs = (pool[:, 1::2] >> 7) * np.uint8(0xFF)
    constants = np.tile(np.array([0, 0xFF], dtype=np.uint8), (len(pool), 1))
    names = np.minimum(np.ascontiguousarray(selector).view(np.uint8).reshape(-1, 4), 13)
    everything = np.concatenate((pool, signs, constants), axis=1)
    return np.take_along_axis(everything, names, axis=1).view(np.uint32).reshape(-1)


def permuted_undefined(a: Anything, b: Anything, selector: Anything) -> Anything:
    """Return the undefined bits of v_perm_b32, if `a` and `b` are those of its sources; a constant result byte has none."""
    names = np.ascontiguousarray(selector).view(np.uint8)
    not_constant = np.where(names < 12, 0xFF, 0).astype(np.uint8).view(np.uint32)
    return permute_bytes(a, b, selector) & not_constant
