import numpy as np

TAPS = 5

case = {
    "kernel": "fir_block<float, 5>",
    "shapes": {"n": 333},
    "vary": {"n": [1, 500]},
    "grid": ["(n + 63) // 64"],
    "block": [64],
    "arguments": [
        {"name": "x", "dtype": "f32", "shape": ["n"]},
        {"name": "taps", "dtype": "f32", "shape": [TAPS]},
        {"name": "y", "dtype": "f32", "shape": ["n"], "role": "out"},
        {"name": "n", "dtype": "i32", "value": "n"},
    ],
    "limits": {"y": {"rel": 1e-5, "abs": 1e-5}},
}


def reference(arrays, shapes):
    n = shapes["n"]
    x = np.asarray(arrays["x"], dtype=np.float64).reshape(n)
    h = np.asarray(arrays["taps"], dtype=np.float64).reshape(TAPS)
    return {"y": np.convolve(x, h)[:n]}
