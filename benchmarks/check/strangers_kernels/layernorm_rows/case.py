import numpy as np

case = {
    "kernel": "layernorm",
    "shapes": {"rows": 9, "cols": 301},
    "vary": {"rows": [1, 12], "cols": [8, 400]},
    "grid": ["rows"],
    "block": [128],
    "arguments": [
        {"name": "x", "dtype": "f32", "shape": ["rows", "cols"]},
        {"name": "gamma", "dtype": "f32", "shape": ["cols"], "values": {"low": 0.5, "high": 1.5}},
        {"name": "beta", "dtype": "f32", "shape": ["cols"]},
        {"name": "y", "dtype": "f32", "shape": ["rows", "cols"], "role": "out"},
        {"name": "cols", "dtype": "i32", "value": "cols"},
        {"name": "eps", "dtype": "f32", "value": 1e-5},
    ],
    # the mean and the quotient each round once more than the reference's
    "limits": {"y": {"rel": 1e-4, "abs": 5e-5}},
}


def reference(arrays, shapes):
    x = arrays["x"].astype(np.float64)
    d = x - x.mean(axis=1, keepdims=True)
    var = (d * d).mean(axis=1, keepdims=True)
    return {"y": d / np.sqrt(var + 1e-5) * arrays["gamma"] + arrays["beta"]}
