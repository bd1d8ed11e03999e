import numpy as np

case = {
    "kernel": "philox_fill",
    "shapes": {"n": 1001},
    "vary": {"n": [1, 3000]},
    "grid": ["(n + 255) // 256"],
    "block": [64],
    "arguments": [
        {"name": "out", "dtype": "u32", "shape": ["n"], "role": "out"},
        {"name": "n", "dtype": "i32", "value": "n"},
        {"name": "seed_lo", "dtype": "u32", "value": 305419896},
        {"name": "seed_hi", "dtype": "u32", "value": 2596069104},
        {"name": "stream", "dtype": "u32", "value": 7},
    ],
}


def reference(arrays, shapes):
    n = shapes["n"]
    count = (n + 3) // 4
    mask = np.uint64(0xFFFFFFFF)
    half = np.uint64(32)
    c0 = np.arange(count, dtype=np.uint64)
    c1 = np.zeros(count, dtype=np.uint64)
    c2 = np.full(count, 7, dtype=np.uint64)
    c3 = np.zeros(count, dtype=np.uint64)
    k0, k1 = 305419896, 2596069104
    for _ in range(10):
        p0 = c0 * np.uint64(0xD2511F53)
        p1 = c2 * np.uint64(0xCD9E8D57)
        c0, c1, c2, c3 = (
            (p1 >> half) ^ c1 ^ np.uint64(k0),
            p1 & mask,
            (p0 >> half) ^ c3 ^ np.uint64(k1),
            p0 & mask,
        )
        k0 = (k0 + 0x9E3779B9) & 0xFFFFFFFF
        k1 = (k1 + 0xBB67AE85) & 0xFFFFFFFF
    words = np.stack([c0, c1, c2, c3], axis=1).reshape(-1)[:n]
    return {"out": words.astype(np.uint32)}
