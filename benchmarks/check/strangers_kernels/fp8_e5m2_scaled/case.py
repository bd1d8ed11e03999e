import numpy as np

case = {
    "kernel": "e5m2_scaled_product",
    "shapes": {"rows": 7, "cols": 77},
    "vary": {"rows": [1, 7], "cols": [1, 128]},
    "grid": ["(cols + 63) // 64", "rows"],
    "block": [64],
    "arguments": [
        {"name": "a", "dtype": "u8", "shape": ["rows", "cols"]},
        {"name": "b", "dtype": "u8", "shape": ["rows", "cols"]},
        {"name": "row_scale", "dtype": "f32", "shape": ["rows"], "values": {"low": 0.5, "high": 2.0}},
        {"name": "col_scale", "dtype": "f32", "shape": ["cols"], "values": {"low": 0.5, "high": 2.0}},
        {"name": "y", "dtype": "f32", "shape": ["rows", "cols"], "role": "out"},
        {"name": "cols", "dtype": "i32", "value": "cols"},
    ],
}


def decode(codes):
    b = np.asarray(codes).astype(np.int64)
    e = (b >> 2) & 31
    m = b & 3
    mag = np.where(e == 0, m * 2.0 ** -16, (1.0 + m / 4.0) * 2.0 ** (e - 15.0))
    mag = np.where(e == 31, 57344.0, mag)
    return np.where(b >= 128, -mag, mag)


def reference(arrays, shapes):
    rows, cols = shapes["rows"], shapes["cols"]
    a = decode(arrays["a"]).reshape(rows, cols)
    b = decode(arrays["b"]).reshape(rows, cols)
    rs = np.asarray(arrays["row_scale"], dtype=np.float64).reshape(rows, 1)
    cs = np.asarray(arrays["col_scale"], dtype=np.float64).reshape(1, cols)
    return {"y": a * b * (rs * cs)}
