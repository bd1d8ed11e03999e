import numpy as np

case = {
    "kernel": "gemm_i8",
    "shapes": {"m": 40, "n": 35, "k": 50},
    "vary": {"m": [1, 70], "n": [1, 50], "k": [1, 70]},
    "grid": ["(n + 15) // 16", "(m + 31) // 32"],
    "block": [64],
    "arguments": [
        {"name": "a", "dtype": "i8", "shape": ["m", "k"]},
        {"name": "b", "dtype": "i8", "shape": ["k", "n"]},
        {"name": "bias", "dtype": "i32", "shape": ["n"], "values": {"low": -1000, "high": 1000}},
        {"name": "c", "dtype": "i32", "shape": ["m", "n"], "role": "out"},
        {"name": "m", "dtype": "i32", "value": "m"},
        {"name": "n", "dtype": "i32", "value": "n"},
        {"name": "k", "dtype": "i32", "value": "k"},
    ],
}


def reference(arrays, shapes):
    a = arrays["a"].astype(np.int64)
    b = arrays["b"].astype(np.int64)
    return {"c": (a @ b + arrays["bias"].astype(np.int64)).astype(np.int32)}
