import numpy as np

RIDGE = 20.0  # over 15 off-diagonal entries of at most 1: diagonally dominant

case = {
    "kernel": "cholesky_batched",
    "shapes": {"batch": 5, "n": 13},
    "vary": {"batch": [1, 8], "n": [1, 16]},
    "grid": ["batch"],
    "block": [16, 16],
    "arguments": [
        {"name": "A", "dtype": "f32", "shape": ["batch", "n", "n"], "values": {"low": -1.0, "high": 1.0}},
        {"name": "L", "dtype": "f32", "shape": ["batch", "n", "n"], "role": "out"},
        {"name": "info", "dtype": "i32", "shape": ["batch"], "role": "out"},
        {"name": "n", "dtype": "i32", "value": "n"},
        {"name": "ridge", "dtype": "f32", "value": RIDGE},
    ],
    "limits": {"L": {"rel": 1e-4, "abs": 1e-5}},
}


def reference(arrays, shapes):
    batch, n = shapes["batch"], shapes["n"]
    a = np.asarray(arrays["A"], dtype=np.float64).reshape(batch, n, n)
    low = np.tril(a, -1)
    sym = low + low.transpose(0, 2, 1)
    eye = np.eye(n)
    sym = sym + (a + RIDGE) * eye
    return {"L": np.linalg.cholesky(sym), "info": np.zeros(batch, dtype=np.int32)}
