import numpy as np

case = {
    "kernel": "sum_excess",
    "shapes": {"n": 2501},
    "vary": {"n": [1, 4000]},
    "grid": ["(n + 1023) // 1024"],
    "block": [256],
    "arguments": [
        {"name": "x", "dtype": "i32", "shape": ["n"], "values": {"low": -500, "high": 500}},
        {"name": "threshold", "dtype": "i32", "value": 20},
        {"name": "total", "dtype": "i32", "shape": [1], "role": "inout", "values": "zeros"},
        {"name": "n", "dtype": "i32", "value": "n"},
    ],
}


def reference(arrays, shapes):
    over = np.maximum(arrays["x"].astype(np.int64) - 20, 0).sum()
    start = arrays["total"].astype(np.int64)
    return {"total": (start + over).astype(np.int32)}
