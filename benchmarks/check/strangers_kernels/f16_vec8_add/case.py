import numpy as np

case = {
    "kernel": "hadd_vec8",
    "shapes": {"n": 1005},
    "vary": {"n": [1, 4000]},
    # one thread for a group of eight, and one for each of at most seven left over
    "grid": ["(n // 8 + 7 + 63) // 64"],
    "block": [64],
    "arguments": [
        {"name": "a", "dtype": "f16", "shape": ["n"]},
        {"name": "b", "dtype": "f16", "shape": ["n"]},
        {"name": "out", "dtype": "f16", "shape": ["n"], "role": "out"},
        {"name": "n", "dtype": "i32", "value": "n"},
    ],
    "limits": {"out": {"rel": 1e-3, "abs": 1e-4}},
}


def reference(arrays, shapes):
    a = np.asarray(arrays["a"], dtype=np.float64)
    b = np.asarray(arrays["b"], dtype=np.float64)
    return {"out": (a + b).astype(np.float16)}
