import numpy as np

case = {
    "kernel": "byte_histogram",
    "shapes": {"n": 2743},
    "vary": {"n": [1, 5000]},
    "grid": [3],
    "block": [96],
    "arguments": [
        {"name": "data", "dtype": "u8", "shape": ["n"]},
        {"name": "counts", "dtype": "u32", "shape": [256], "role": "inout", "values": "zeros"},
        {"name": "n", "dtype": "i32", "value": "n"},
    ],
}


def reference(arrays, shapes):
    data = np.asarray(arrays["data"]).ravel()
    return {"counts": np.bincount(data, minlength=256).astype(np.uint32)}
