import numpy as np

N, THRESHOLD = 1111, 40
VALUES = [int(v) for v in np.random.default_rng(77).integers(-100, 101, size=N)]
VALUES[-1] = 7                                   # the last element is kept
KEPT = sum(v < THRESHOLD for v in VALUES)

case = {
    "kernel": "compact_below",
    # packed is exactly as long as needed
    "shapes": {"n": N, "kept_count": KEPT},
    "grid": ["(n + 127) // 128"],
    "block": [128],
    "arguments": [
        {"name": "in", "dtype": "i32", "shape": ["n"], "values": VALUES},
        {"name": "n", "dtype": "i32", "value": "n"},
        {"name": "threshold", "dtype": "i32", "value": THRESHOLD},
        {"name": "packed", "dtype": "i32", "shape": ["kept_count"], "role": "out"},
        {"name": "total", "dtype": "u32", "shape": [1], "role": "inout", "values": "zeros"},
        {"name": "hash", "dtype": "u32", "shape": [1], "role": "inout", "values": "zeros"},
        {"name": "kept", "dtype": "u8", "shape": ["n"], "role": "out"},
    ],
}


def reference(arrays, shapes):
    x = np.asarray(arrays["in"], dtype=np.int64).ravel()
    keep = x < THRESHOLD
    h = 0
    for v in x[keep]:
        u = int(v) & 0xFFFFFFFF
        h += (((u ^ (u >> 15)) * 2246822519) & 0xFFFFFFFF) + 1
    # the order of `packed` depends on the order of the blocks: checked by the hash
    return {
        "total": np.array([keep.sum()], dtype=np.uint32),
        "hash": np.array([h & 0xFFFFFFFF], dtype=np.uint32),
        "kept": keep.astype(np.uint8),
    }
