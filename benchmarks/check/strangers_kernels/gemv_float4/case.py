import numpy as np

case = {
    "kernel": "gemv_rows",
    # x has no padding: 173 is 43 float4 and one element
    "shapes": {"rows": 45, "cols": 173, "pitch": 176},
    "grid": ["(rows + 3) // 4"],
    "block": [32, 4],
    "arguments": [
        {"name": "A", "dtype": "f32", "shape": ["rows", "pitch"], "values": {"low": -1.0, "high": 1.0}},
        {"name": "x", "dtype": "f32", "shape": ["cols"], "values": {"low": -1.0, "high": 1.0}},
        {"name": "bias", "dtype": "f32", "shape": ["rows"]},
        {"name": "y", "dtype": "f32", "shape": ["rows"], "role": "out"},
        {"name": "rows", "dtype": "i32", "value": "rows"},
        {"name": "cols", "dtype": "i32", "value": "cols"},
        {"name": "pitch", "dtype": "i32", "value": "pitch"},
    ],
    "limits": {"y": {"rel": 1e-4, "abs": 2e-5}},
}


def reference(arrays, shapes):
    a = np.asarray(arrays["A"], dtype=np.float64).reshape(shapes["rows"], shapes["pitch"])
    x = np.asarray(arrays["x"], dtype=np.float64).ravel()
    return {"y": a[:, : shapes["cols"]] @ x + np.asarray(arrays["bias"], dtype=np.float64).ravel()}
