import numpy as np

# half = n // 2 (n is even), groups = (n + 31) // 32
case = {
    "kernel": "quant_int4",
    "shapes": {"n": 970, "half": 485, "groups": 31},
    "grid": ["(groups + 3) // 4"],
    "block": [128],
    "arguments": [
        {"name": "x", "dtype": "f32", "shape": ["n"]},
        {"name": "packed", "dtype": "u8", "shape": ["half"], "role": "out"},
        {"name": "scales", "dtype": "f32", "shape": ["groups"], "role": "out"},
        {"name": "n", "dtype": "i32", "value": "n"},
        {"name": "groups", "dtype": "i32", "value": "groups"},
    ],
}


def reference(arrays, shapes):
    n, groups = shapes["n"], shapes["groups"]
    x = np.zeros(groups * 32, dtype=np.float32)
    x[:n] = np.asarray(arrays["x"], dtype=np.float32).reshape(n)
    x = x.reshape(groups, 32)
    amax = np.abs(x).max(axis=1)
    scale = np.where(amax > 0, amax / np.float32(7), np.float32(1)).astype(np.float32)
    q = np.rint((x / scale[:, None]).astype(np.float32)).astype(np.int32)
    q = np.clip(q, -8, 7).reshape(-1)[:n]
    packed = (q[0::2] & 15) | ((q[1::2] & 15) << 4)
    return {"packed": packed.astype(np.uint8), "scales": scale}
