import numpy as np

DT, EPS2 = 0.01, 0.05

case = {
    "kernel": "nbody_step",
    "shapes": {"n": 150},
    "vary": {"n": [1, 200]},
    "grid": ["(n + 63) // 64"],
    "block": [64],
    "arguments": [
        {"name": "pos", "dtype": "f32", "shape": ["n", 4]},
        {"name": "vel", "dtype": "f32", "shape": ["n", 4]},
        {"name": "new_pos", "dtype": "f32", "shape": ["n", 4], "role": "out"},
        {"name": "new_vel", "dtype": "f32", "shape": ["n", 4], "role": "out"},
        {"name": "n", "dtype": "i32", "value": "n"},
        {"name": "dt", "dtype": "f32", "value": DT},
        {"name": "eps2", "dtype": "f32", "value": EPS2},
    ],
    "limits": {
        "new_pos": {"rel": 1e-4, "abs": 1e-5},
        "new_vel": {"rel": 1e-4, "abs": 1e-4},
    },
}


def reference(arrays, shapes):
    n = shapes["n"]
    dt, eps2 = float(np.float32(DT)), float(np.float32(EPS2))
    pos = np.asarray(arrays["pos"], dtype=np.float64).reshape(n, 4)
    vel = np.asarray(arrays["vel"], dtype=np.float64).reshape(n, 4)
    d = pos[None, :, :3] - pos[:, None, :3]
    r2 = (d * d).sum(axis=2) + eps2
    s = pos[None, :, 3] * r2 ** -1.5
    acc = (d * s[:, :, None]).sum(axis=1)
    new_vel = vel.copy()
    new_vel[:, :3] += acc * dt
    new_pos = pos.copy()
    new_pos[:, :3] += new_vel[:, :3] * dt
    return {"new_pos": new_pos, "new_vel": new_vel}
