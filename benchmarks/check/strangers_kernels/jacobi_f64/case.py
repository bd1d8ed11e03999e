import numpy as np

H2, OMEGA = 0.015625, 0.8

case = {
    "kernel": "jacobi_step",
    "shapes": {"width": 37, "height": 21},
    "vary": {"width": [1, 60], "height": [1, 30]},
    "grid": ["(width + 15) // 16", "(height + 7) // 8"],
    "block": [16, 8],
    "arguments": [
        {"name": "u", "dtype": "f64", "shape": ["height", "width"]},
        {"name": "f", "dtype": "f64", "shape": ["height", "width"], "values": {"low": -20.0, "high": 20.0}},
        {"name": "next", "dtype": "f64", "shape": ["height", "width"], "role": "out"},
        {"name": "width", "dtype": "i32", "value": "width"},
        {"name": "height", "dtype": "i32", "value": "height"},
        {"name": "h2", "dtype": "f64", "value": H2},
        {"name": "omega", "dtype": "f64", "value": OMEGA},
    ],
    "limits": {"next": {"rel": 1e-12, "abs": 1e-13}},
}


def reference(arrays, shapes):
    shape = (shapes["height"], shapes["width"])
    u = np.asarray(arrays["u"], dtype=np.float64).reshape(shape)
    f = np.asarray(arrays["f"], dtype=np.float64).reshape(shape)
    new = u.copy()
    around = u[1:-1, :-2] + u[1:-1, 2:] + u[:-2, 1:-1] + u[2:, 1:-1]
    mid = u[1:-1, 1:-1]
    new[1:-1, 1:-1] = mid + OMEGA * (0.25 * (H2 * f[1:-1, 1:-1] + around) - mid)
    return {"next": new}
