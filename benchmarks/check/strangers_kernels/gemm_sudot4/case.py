import numpy as np

case = {
    "kernel": "qgemm",
    "shapes": {"m": 27, "n": 21, "words": 21},
    "vary": {"m": [1, 50], "n": [1, 50], "words": [1, 40]},
    "grid": ["(n + 15) // 16", "(m + 15) // 16"],
    "block": [16, 16],
    "arguments": [
        # bytes; the kernel reads them as words of four
        {"name": "a", "dtype": "u8", "shape": ["m", "words", 4]},
        {"name": "w", "dtype": "i8", "shape": ["n", "words", 4]},
        {"name": "row_scale", "dtype": "f32", "shape": ["m"], "values": {"low": 0.01, "high": 0.1}},
        {"name": "col_scale", "dtype": "f32", "shape": ["n"], "values": {"low": 0.01, "high": 0.1}},
        {"name": "out", "dtype": "f32", "shape": ["m", "n"], "role": "out"},
        {"name": "m", "dtype": "i32", "value": "m"},
        {"name": "n", "dtype": "i32", "value": "n"},
        {"name": "words", "dtype": "i32", "value": "words"},
    ],
}


def reference(arrays, shapes):
    a = arrays["a"].reshape(shapes["m"], -1).astype(np.int64)
    w = arrays["w"].reshape(shapes["n"], -1).astype(np.int64)
    out = (a @ w.T).astype(np.float64)
    out *= arrays["row_scale"].astype(np.float64)[:, None]
    out *= arrays["col_scale"].astype(np.float64)[None, :]
    return {"out": out}
