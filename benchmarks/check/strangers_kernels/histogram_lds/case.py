import numpy as np

case = {
    "kernel": "byte_histogram",
    "shapes": {"n": 3001},
    "vary": {"n": [1, 5000]},
    "grid": [4],
    "block": [128],
    "arguments": [
        {"name": "data", "dtype": "u8", "shape": ["n"], "values": {"low": 0, "high": 255}},
        {"name": "counts", "dtype": "u32", "shape": [256], "role": "inout", "values": "zeros"},
        {"name": "n", "dtype": "i32", "value": "n"},
    ],
}


def reference(arrays, shapes):
    found = np.bincount(arrays["data"].astype(np.int64), minlength=256)
    return {"counts": (arrays["counts"].astype(np.int64) + found).astype(np.uint32)}
