import numpy as np

case = {
    "kernel": "block_sums",
    "shapes": {"n": 1777, "g": 5},
    "vary": {"n": [1, 3000], "g": [1, 8]},
    "grid": ["g"],
    "block": [128],
    "arguments": [
        {"name": "x", "dtype": "f32", "shape": ["n"]},
        {"name": "partial", "dtype": "f32", "shape": ["g"], "role": "out"},
        {"name": "n", "dtype": "i32", "value": "n"},
    ],
    # sums of a few hundred normal numbers cancel: the error is absolute
    "limits": {"partial": {"rel": 1e-5, "abs": 5e-5}},
}


def reference(arrays, shapes):
    x = arrays["x"].astype(np.float64)
    owner = (np.arange(shapes["n"]) // 128) % shapes["g"]
    out = np.zeros(shapes["g"], np.float64)
    np.add.at(out, owner, x)
    return {"partial": out}
