import numpy as np

case = {
    "kernel": "jacobi_step",
    "shapes": {"nx": 37, "ny": 29},
    "vary": {"nx": [1, 50], "ny": [1, 50]},
    "grid": ["(nx + 15) // 16", "(ny + 15) // 16"],
    "block": [16, 16],
    "arguments": [
        {"name": "u", "dtype": "f32", "shape": ["ny", "nx"]},
        {"name": "f", "dtype": "f32", "shape": ["ny", "nx"]},
        {"name": "out", "dtype": "f32", "shape": ["ny", "nx"], "role": "out"},
        {"name": "nx", "dtype": "i32", "value": "nx"},
        {"name": "ny", "dtype": "i32", "value": "ny"},
        {"name": "h2", "dtype": "f32", "value": 0.0625},
    ],
    "limits": {"out": {"rel": 1e-5, "abs": 5e-6}},
}


def reference(arrays, shapes):
    u = arrays["u"].astype(np.float64)
    f = arrays["f"].astype(np.float64)
    out = u.copy()
    if shapes["nx"] > 2 and shapes["ny"] > 2:
        out[1:-1, 1:-1] = 0.25 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]
                                  - 0.0625 * f[1:-1, 1:-1])
    return {"out": out}
