import numpy as np

THREADS = 128

case = {
    "kernel": "dot_partials",
    "shapes": {"n": 2501, "blocks": 5},
    "vary": {"n": [1, 4000], "blocks": [1, 8]},
    "grid": ["blocks"],
    "block": [THREADS],
    "arguments": [
        {"name": "a", "dtype": "f64", "shape": ["n"]},
        {"name": "b", "dtype": "f64", "shape": ["n"]},
        {"name": "partial", "dtype": "f64", "shape": ["blocks"], "role": "out"},
        {"name": "norm2", "dtype": "f64", "shape": ["blocks"], "role": "out"},
        {"name": "n", "dtype": "i32", "value": "n"},
    ],
    "limits": {
        "partial": {"rel": 1e-11, "abs": 1e-11},
        "norm2": {"rel": 1e-12, "abs": 1e-12},
    },
}


def reference(arrays, shapes):
    a = np.asarray(arrays["a"], dtype=np.float64).ravel()
    b = np.asarray(arrays["b"], dtype=np.float64).ravel()
    owner = (np.arange(shapes["n"]) // THREADS) % shapes["blocks"]
    blocks = range(shapes["blocks"])
    return {
        "partial": np.array([(a * b)[owner == k].sum() for k in blocks]),
        "norm2": np.array([(a * a)[owner == k].sum() for k in blocks]),
    }
