import numpy as np

ALPHA = 0.7109375

case = {
    "kernel": "bf16_axpy",
    "shapes": {"n": 1203},
    "vary": {"n": [1, 3000]},
    "grid": [4],
    "block": [96],
    "arguments": [
        {"name": "x", "dtype": "bf16", "shape": ["n"]},
        {"name": "y", "dtype": "bf16", "shape": ["n"]},
        {"name": "out", "dtype": "bf16", "shape": ["n"], "role": "out"},
        {"name": "alpha", "dtype": "f32", "value": ALPHA},
        {"name": "n", "dtype": "i32", "value": "n"},
    ],
    # half of one step of bf16 at most: the rounding itself is checked
    "limits": {"out": {"rel": 1e-3, "abs": 1e-20}},
}


def reference(arrays, shapes):
    x = np.asarray(arrays["x"], dtype=np.float64).ravel()
    y = np.asarray(arrays["y"], dtype=np.float64).ravel()
    u = (ALPHA * x + y).astype(np.float32).view(np.uint32).astype(np.uint64)
    u = ((u + 0x7FFF + ((u >> np.uint64(16)) & np.uint64(1))) >> np.uint64(16)) << np.uint64(16)
    return {"out": u.astype(np.uint32).view(np.float32)}
