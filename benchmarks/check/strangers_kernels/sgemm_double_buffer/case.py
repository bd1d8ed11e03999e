import numpy as np

ALPHA, BETA = 1.25, -0.5

case = {
    "kernel": "sgemm_db",
    "shapes": {"m": 37, "n": 45, "k": 50},
    "vary": {"m": [1, 60], "n": [1, 60], "k": [1, 70]},
    "grid": ["(n + 15) // 16", "(m + 15) // 16"],
    "block": [16, 16],
    "arguments": [
        {"name": "A", "dtype": "f32", "shape": ["m", "k"]},
        {"name": "B", "dtype": "f32", "shape": ["k", "n"]},
        {"name": "C", "dtype": "f32", "shape": ["m", "n"], "role": "inout"},
        {"name": "M", "dtype": "i32", "value": "m"},
        {"name": "N", "dtype": "i32", "value": "n"},
        {"name": "K", "dtype": "i32", "value": "k"},
        {"name": "alpha", "dtype": "f32", "value": ALPHA},
        {"name": "beta", "dtype": "f32", "value": BETA},
    ],
    "limits": {"C": {"rel": 1e-4, "abs": 1e-4}},
}


def reference(arrays, shapes):
    m, n, k = shapes["m"], shapes["n"], shapes["k"]
    a = np.asarray(arrays["A"], dtype=np.float64).reshape(m, k)
    b = np.asarray(arrays["B"], dtype=np.float64).reshape(k, n)
    c = np.asarray(arrays["C"], dtype=np.float64).reshape(m, n)
    return {"C": ALPHA * (a @ b) + BETA * c}
