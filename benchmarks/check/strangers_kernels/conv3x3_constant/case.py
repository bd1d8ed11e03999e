import numpy as np

TAPS = np.array([[0.50, -1.25, 0.75], [2.00, 0.25, -0.50], [-1.00, 1.50, 0.125]])

case = {
    "kernel": "filter3x3",
    "shapes": {"w": 45, "h": 30},
    "vary": {"w": [1, 60], "h": [1, 40]},
    "grid": ["(w + 15) // 16", "(h + 7) // 8"],
    "block": [16, 8],
    "arguments": [
        {"name": "src", "dtype": "f32", "shape": ["h", "w"]},
        {"name": "dst", "dtype": "f32", "shape": ["h", "w"], "role": "out"},
        {"name": "w", "dtype": "i32", "value": "w"},
        {"name": "h", "dtype": "i32", "value": "h"},
        {"name": "bias", "dtype": "f32", "value": 0.375},
    ],
    "limits": {"dst": {"rel": 1e-5, "abs": 1e-5}},
}


def reference(arrays, shapes):
    w, h = shapes["w"], shapes["h"]
    big = np.pad(arrays["src"].astype(np.float64), 1, mode="edge")
    out = np.full((h, w), 0.375)
    for dy in range(3):
        for dx in range(3):
            out += TAPS[dy, dx] * big[dy:dy + h, dx:dx + w]
    return {"dst": out}
