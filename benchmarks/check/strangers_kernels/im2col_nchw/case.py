import numpy as np

# 11 x 14 image, 3 x 2 kernel, padding 1, stride 2: 6 x 8 outputs
case = {
    "kernel": "im2col",
    "shapes": {
        "channels": 3, "height": 11, "width": 14, "kh": 3, "kw": 2,
        "pad": 1, "stride": 2, "out_h": 6, "out_w": 8,
    },
    "grid": [2],
    "block": [64],
    "arguments": [
        {"name": "image", "dtype": "f32", "shape": ["channels", "height", "width"]},
        {"name": "cols", "dtype": "f32", "shape": ["channels", "kh", "kw", "out_h", "out_w"], "role": "out"},
        {"name": "channels", "dtype": "i32", "value": "channels"},
        {"name": "height", "dtype": "i32", "value": "height"},
        {"name": "width", "dtype": "i32", "value": "width"},
        {"name": "kh", "dtype": "i32", "value": "kh"},
        {"name": "kw", "dtype": "i32", "value": "kw"},
        {"name": "pad", "dtype": "i32", "value": "pad"},
        {"name": "stride", "dtype": "i32", "value": "stride"},
        {"name": "out_h", "dtype": "i32", "value": "out_h"},
        {"name": "out_w", "dtype": "i32", "value": "out_w"},
    ],
}


def reference(arrays, shapes):
    s = shapes
    x = np.asarray(arrays["image"], dtype=np.float64).reshape(s["channels"], s["height"], s["width"])
    # one more row and column than the padding asks for costs nothing
    x = np.pad(x, ((0, 0), (s["pad"], s["pad"] + s["stride"]), (s["pad"], s["pad"] + s["stride"])))
    out = np.zeros((s["channels"], s["kh"], s["kw"], s["out_h"], s["out_w"]))
    for ky in range(s["kh"]):
        for kx in range(s["kw"]):
            rows = ky + s["stride"] * np.arange(s["out_h"])
            columns = kx + s["stride"] * np.arange(s["out_w"])
            out[:, ky, kx] = x[:, rows[:, None], columns[None, :]]
    return {"cols": out}
