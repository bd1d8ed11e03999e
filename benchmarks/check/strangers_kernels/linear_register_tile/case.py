import numpy as np

case = {
    "kernel": "linear_bias",
    "shapes": {"m": 50, "n": 70, "k": 19},
    "vary": {"m": [1, 80], "n": [1, 80], "k": [1, 40]},
    "grid": ["(n + 31) // 32", "(m + 31) // 32"],
    "block": [64],
    "arguments": [
        {"name": "x", "dtype": "f32", "shape": ["m", "k"]},
        {"name": "w", "dtype": "f32", "shape": ["n", "k"]},
        {"name": "bias", "dtype": "f32", "shape": ["n"]},
        {"name": "y", "dtype": "f32", "shape": ["m", "n"], "role": "out"},
        {"name": "M", "dtype": "i32", "value": "m"},
        {"name": "N", "dtype": "i32", "value": "n"},
        {"name": "K", "dtype": "i32", "value": "k"},
    ],
    "limits": {"y": {"rel": 1e-4, "abs": 1e-4}},
}


def reference(arrays, shapes):
    m, n, k = shapes["m"], shapes["n"], shapes["k"]
    x = np.asarray(arrays["x"], dtype=np.float64).reshape(m, k)
    w = np.asarray(arrays["w"], dtype=np.float64).reshape(n, k)
    b = np.asarray(arrays["bias"], dtype=np.float64).reshape(1, n)
    return {"y": x @ w.T + b}
