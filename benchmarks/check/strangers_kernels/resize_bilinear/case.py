import numpy as np

ONE, MODE = 65536, 1

case = {
    "kernel": "resize",
    "shapes": {"sw": 13, "sh": 9, "dw": 29, "dh": 15, "channels": 3},
    "vary": {"sw": [1, 20], "sh": [1, 20], "dw": [1, 32], "dh": [1, 16], "channels": [1, 4]},
    "grid": ["(dw + 15) // 16", "(dh + 7) // 8", "channels"],
    "block": [16, 8],
    "arguments": [
        {"name": "src", "dtype": "u8", "shape": ["sh", "sw", "channels"]},
        {"name": "dst", "dtype": "u8", "shape": ["dh", "dw", "channels"], "role": "out"},
        {"name": "sw", "dtype": "i32", "value": "sw"},
        {"name": "sh", "dtype": "i32", "value": "sh"},
        {"name": "dw", "dtype": "i32", "value": "dw"},
        {"name": "dh", "dtype": "i32", "value": "dh"},
        {"name": "channels", "dtype": "i32", "value": "channels"},
        {"name": "mode", "dtype": "i32", "value": MODE},
    ],
}


def _axis(dst_size, src_size):
    pos = (2 * np.arange(dst_size, dtype=np.int64) + 1) * src_size * ONE // (2 * dst_size) - ONE // 2
    i = pos >> 16
    return np.clip(i, 0, src_size - 1), np.clip(i + 1, 0, src_size - 1), (pos & (ONE - 1)) >> 8


def reference(arrays, shapes):
    s = shapes
    src = np.asarray(arrays["src"]).reshape(s["sh"], s["sw"], s["channels"]).astype(np.int64)
    x0, x1, wx = _axis(s["dw"], s["sw"])
    y0, y1, wy = _axis(s["dh"], s["sh"])
    wx = wx[None, :, None]
    wy = wy[:, None, None]
    top = src[y0][:, x0] * (256 - wx) + src[y0][:, x1] * wx
    low = src[y1][:, x0] * (256 - wx) + src[y1][:, x1] * wx
    return {"dst": ((top * (256 - wy) + low * wy + 32768) >> 16).astype(np.uint8)}
