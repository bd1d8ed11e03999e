import numpy as np

case = {
    "kernel": "transpose_tiled",
    "shapes": {"rows": 70, "cols": 45},
    "vary": {"rows": [1, 100], "cols": [1, 70]},
    "grid": ["(cols + 31) // 32", "(rows + 31) // 32"],
    "block": [32, 8],
    "arguments": [
        {"name": "in", "dtype": "f32", "shape": ["rows", "cols"]},
        {"name": "out", "dtype": "f32", "shape": ["cols", "rows"], "role": "out"},
        {"name": "rows", "dtype": "i32", "value": "rows"},
        {"name": "cols", "dtype": "i32", "value": "cols"},
    ],
}


def reference(arrays, shapes):
    return {"out": np.ascontiguousarray(arrays["in"].T)}
