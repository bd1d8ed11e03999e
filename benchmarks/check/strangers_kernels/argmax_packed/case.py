import numpy as np

case = {
    "kernel": "argmax_packed",
    "shapes": {"n": 1501, "blocks": 4},
    "vary": {"n": [1, 3000], "blocks": [1, 6]},
    "grid": ["blocks"],
    "block": [128],
    "arguments": [
        # every value is negative, so that the sign handling of the key matters
        {"name": "x", "dtype": "f32", "shape": ["n"], "values": {"low": -100.0, "high": -1.0}},
        {"name": "result", "dtype": "u64", "shape": [1], "role": "inout", "values": "zeros"},
        {"name": "n", "dtype": "i32", "value": "n"},
    ],
}


def reference(arrays, shapes):
    x = np.ascontiguousarray(arrays["x"], dtype=np.float32).ravel()
    i = int(np.argmax(x))
    bits = int(x[i : i + 1].view(np.uint32)[0])
    bits = (~bits & 0xFFFFFFFF) if bits & 0x80000000 else bits | 0x80000000
    key = (bits << 32) | (0xFFFFFFFF - i)
    return {"result": np.array([key], dtype=np.uint64)}
