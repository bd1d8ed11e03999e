import numpy as np

N = 128
ANGLES = -2.0 * np.pi * np.arange(N // 2) / N
TWIDDLE = np.stack([np.cos(ANGLES), np.sin(ANGLES)], axis=1).ravel().astype(np.float32)

case = {
    "kernel": "fft_batch",
    "shapes": {"batch": 7, "n": N},
    "vary": {"batch": [1, 9], "n": [N, N]},
    "grid": [3],
    "block": [N // 2],
    "arguments": [
        {"name": "in", "dtype": "f32", "shape": ["batch", "n", 2], "values": {"low": -1.0, "high": 1.0}},
        {"name": "twiddle", "dtype": "f32", "shape": ["n"], "values": [float(v) for v in TWIDDLE]},
        {"name": "out", "dtype": "f32", "shape": ["batch", "n", 2], "role": "out"},
        {"name": "batch", "dtype": "i32", "value": "batch"},
    ],
    "limits": {"out": {"rel": 1e-4, "abs": 5e-5}},
}


def reference(arrays, shapes):
    x = np.asarray(arrays["in"], dtype=np.float64).reshape(shapes["batch"], N, 2)
    f = np.fft.fft(x[..., 0] + 1j * x[..., 1], axis=1)
    return {"out": np.stack([f.real, f.imag], axis=2)}
