import numpy as np

case = {
    "kernel": "kmeans_assign",
    "shapes": {"n": 203, "k": 7, "dim": 5},
    "vary": {"n": [1, 300], "k": [1, 12], "dim": [1, 9]},
    "grid": ["(n + 63) // 64"],
    "block": [64],
    "dynamic_lds": "k * dim * 4",
    "arguments": [
        {"name": "points", "dtype": "f32", "shape": ["n", "dim"]},
        {"name": "centroids", "dtype": "f32", "shape": ["k", "dim"]},
        {"name": "label", "dtype": "i32", "shape": ["n"], "role": "out"},
        {"name": "dist2", "dtype": "f32", "shape": ["n"], "role": "out"},
        {"name": "sizes", "dtype": "i32", "shape": ["k"], "role": "inout", "values": "zeros"},
        {"name": "n", "dtype": "i32", "value": "n"},
        {"name": "k", "dtype": "i32", "value": "k"},
        {"name": "dim", "dtype": "i32", "value": "dim"},
    ],
    "limits": {"dist2": {"rel": 1e-4, "abs": 1e-5}},
}


def reference(arrays, shapes):
    n, k, dim = shapes["n"], shapes["k"], shapes["dim"]
    p = np.asarray(arrays["points"], dtype=np.float64).reshape(n, dim)
    c = np.asarray(arrays["centroids"], dtype=np.float64).reshape(k, dim)
    d2 = ((p[:, None, :] - c[None, :, :]) ** 2).sum(axis=2)
    label = d2.argmin(axis=1)
    sizes = np.asarray(arrays["sizes"]).reshape(k) + np.bincount(label, minlength=k)
    return {
        "label": label.astype(np.int32),
        "dist2": d2.min(axis=1),
        "sizes": sizes.astype(np.int32),
    }
