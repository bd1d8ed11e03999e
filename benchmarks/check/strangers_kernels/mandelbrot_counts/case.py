import numpy as np

X0, Y0, STEP, MAX_ITER = -2.1, -0.93, 0.07, 40

case = {
    "kernel": "mandelbrot",
    "shapes": {"w": 45, "h": 27},
    "vary": {"w": [1, 60], "h": [1, 40]},
    "grid": ["(w + 15) // 16", "(h + 7) // 8"],
    "block": [16, 8],
    "arguments": [
        {"name": "counts", "dtype": "i32", "shape": ["h", "w"], "role": "out"},
        {"name": "inside", "dtype": "i32", "shape": [1], "role": "inout", "values": "zeros"},
        {"name": "width", "dtype": "i32", "value": "w"},
        {"name": "height", "dtype": "i32", "value": "h"},
        {"name": "x0", "dtype": "f32", "value": X0},
        {"name": "y0", "dtype": "f32", "value": Y0},
        {"name": "step", "dtype": "f32", "value": STEP},
        {"name": "max_iter", "dtype": "i32", "value": MAX_ITER},
    ],
}


def reference(arrays, shapes):
    w, h = shapes["w"], shapes["h"]
    f = np.float32
    cx = (f(X0) + f(STEP) * np.arange(w, dtype=f)).astype(f).reshape(1, w)
    cy = (f(Y0) + f(STEP) * np.arange(h, dtype=f)).astype(f).reshape(h, 1)
    zx = np.zeros((h, w), dtype=f)
    zy = np.zeros((h, w), dtype=f)
    alive = np.ones((h, w), dtype=bool)
    counts = np.zeros((h, w), dtype=np.int32)
    for _ in range(MAX_ITER):
        zx2 = zx * zx
        zy2 = zy * zy
        alive &= ~((zx2 + zy2) > f(4.0))
        new_y = (f(2.0) * zx) * zy + cy
        new_x = (zx2 - zy2) + cx
        zy = np.where(alive, new_y, zy).astype(f)
        zx = np.where(alive, new_x, zx).astype(f)
        counts += alive
    inside = np.asarray(arrays["inside"]).reshape(1) + np.int32((counts == MAX_ITER).sum())
    return {"counts": counts, "inside": inside.astype(np.int32)}
