import numpy as np

case = {
    "kernel": "row_dots",
    "shapes": {"rows": 13, "cols": 77},
    "vary": {"rows": [1, 24], "cols": [1, 150]},
    "grid": ["(rows + 1) // 2"],
    "block": [64],
    "arguments": [
        {"name": "a", "dtype": "i16", "shape": ["rows", "cols"], "values": {"low": -1000, "high": 1000}},
        {"name": "b", "dtype": "i16", "shape": ["rows", "cols"], "values": {"low": -1000, "high": 1000}},
        {"name": "out", "dtype": "i32", "shape": ["rows"], "role": "out"},
        {"name": "rows", "dtype": "i32", "value": "rows"},
        {"name": "cols", "dtype": "i32", "value": "cols"},
    ],
}


def reference(arrays, shapes):
    a = arrays["a"].astype(np.int64)
    b = arrays["b"].astype(np.int64)
    return {"out": (a * b).sum(axis=1).astype(np.int32)}
