import numpy as np

case = {
    "kernel": "bitonic_stretches",
    "shapes": {"n": 600},
    "vary": {"n": [1, 800]},
    "grid": ["(n + 255) // 256"],
    "block": [256],
    "arguments": [
        {"name": "in", "dtype": "u32", "shape": ["n"]},
        {"name": "out", "dtype": "u32", "shape": ["n"], "role": "out"},
        {"name": "n", "dtype": "i32", "value": "n"},
    ],
}


def reference(arrays, shapes):
    x = arrays["in"]
    out = np.empty_like(x)
    for at in range(0, shapes["n"], 256):
        out[at:at + 256] = np.sort(x[at:at + 256])
    return {"out": out}
