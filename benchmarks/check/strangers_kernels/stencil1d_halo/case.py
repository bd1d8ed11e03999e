import numpy as np

case = {
    "kernel": "stencil_line",
    "shapes": {"n": 900},
    "vary": {"n": [1, 1500]},
    "grid": ["(n + 127) // 128"],
    "block": [128],
    "arguments": [
        {"name": "in", "dtype": "f32", "shape": ["n"]},
        {"name": "coef", "dtype": "f32", "shape": [7], "values": [-0.5, 0.25, 1.5, -2.0, 1.0, 0.75, 0.125]},
        {"name": "out", "dtype": "f32", "shape": ["n"], "role": "out"},
        {"name": "n", "dtype": "i32", "value": "n"},
    ],
    "limits": {"out": {"rel": 1e-5, "abs": 1e-5}},
}


def reference(arrays, shapes):
    n = shapes["n"]
    x = np.zeros(n + 6, np.float64)
    x[3:n + 3] = arrays["in"]
    coef = arrays["coef"].astype(np.float64)
    return {"out": sum(coef[k] * x[k:k + n] for k in range(7))}
