import numpy as np

case = {
    "kernel": "rotary",
    "shapes": {"tokens": 11, "heads": 3, "half": 10},
    "vary": {"tokens": [1, 16], "heads": [1, 4], "half": [1, 16]},
    "grid": ["(tokens * heads * half + 63) // 64"],
    "block": [64],
    "arguments": [
        {"name": "q", "dtype": "f32", "shape": ["tokens", "heads", 2, "half"]},
        {"name": "positions", "dtype": "i32", "shape": ["tokens"], "values": {"low": 0, "high": 31}},
        {"name": "cos_table", "dtype": "f32", "shape": [32, "half"], "values": {"low": -1.0, "high": 1.0}},
        {"name": "sin_table", "dtype": "f32", "shape": [32, "half"], "values": {"low": -1.0, "high": 1.0}},
        {"name": "out", "dtype": "f32", "shape": ["tokens", "heads", 2, "half"], "role": "out"},
        {"name": "tokens", "dtype": "i32", "value": "tokens"},
        {"name": "heads", "dtype": "i32", "value": "heads"},
        {"name": "half", "dtype": "i32", "value": "half"},
    ],
}


def reference(arrays, shapes):
    q = arrays["q"].astype(np.float64)
    c = arrays["cos_table"].astype(np.float64)[arrays["positions"]][:, None, :]
    s = arrays["sin_table"].astype(np.float64)[arrays["positions"]][:, None, :]
    a, b = q[:, :, 0, :], q[:, :, 1, :]
    return {"out": np.stack([a * c - b * s, a * s + b * c], axis=2)}
