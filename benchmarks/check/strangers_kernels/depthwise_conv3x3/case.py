import numpy as np

case = {
    "kernel": "dwconv3x3",
    "shapes": {"channels": 3, "h": 21, "w": 26},
    "vary": {"channels": [1, 3], "h": [1, 32], "w": [1, 32]},
    "grid": ["(w + 15) // 16", "(h + 15) // 16", "channels"],
    "block": [16, 16],
    "arguments": [
        {"name": "x", "dtype": "f32", "shape": ["channels", "h", "w"]},
        {"name": "weight", "dtype": "f32", "shape": ["channels", 3, 3]},
        {"name": "bias", "dtype": "f32", "shape": ["channels"]},
        {"name": "y", "dtype": "f32", "shape": ["channels", "h", "w"], "role": "out"},
        {"name": "h", "dtype": "i32", "value": "h"},
        {"name": "w", "dtype": "i32", "value": "w"},
    ],
    "limits": {"y": {"rel": 1e-5, "abs": 1e-5}},
}


def reference(arrays, shapes):
    c, h, w = shapes["channels"], shapes["h"], shapes["w"]
    x = np.asarray(arrays["x"], dtype=np.float64).reshape(c, h, w)
    k = np.asarray(arrays["weight"], dtype=np.float64).reshape(c, 3, 3)
    b = np.asarray(arrays["bias"], dtype=np.float64).reshape(c, 1, 1)
    padded = np.zeros((c, h + 2, w + 2))
    padded[:, 1:h + 1, 1:w + 1] = x
    y = np.zeros((c, h, w)) + b
    for dy in range(3):
        for dx in range(3):
            y += k[:, dy, dx].reshape(c, 1, 1) * padded[:, dy:dy + h, dx:dx + w]
    return {"y": y}
