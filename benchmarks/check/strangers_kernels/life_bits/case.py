import numpy as np

case = {
    "kernel": "life_step",
    "shapes": {"rows": 19, "words": 3},
    "vary": {"rows": [1, 20], "words": [1, 3]},
    "grid": ["(rows * words + 3) // 4"],
    "block": [128],
    "arguments": [
        {"name": "now", "dtype": "u32", "shape": ["rows", "words"]},
        {"name": "next", "dtype": "u32", "shape": ["rows", "words"], "role": "out"},
        {"name": "alive", "dtype": "u32", "shape": [1], "role": "inout", "values": "zeros"},
        {"name": "rows", "dtype": "i32", "value": "rows"},
        {"name": "words", "dtype": "i32", "value": "words"},
    ],
}


def reference(arrays, shapes):
    rows, words = shapes["rows"], shapes["words"]
    now = np.asarray(arrays["now"], dtype=np.uint32).reshape(rows, words, 1)
    shifts = np.arange(32, dtype=np.uint32)
    cells = ((now >> shifts) & np.uint32(1)).astype(np.int64).reshape(rows, words * 32)
    around = sum(
        np.roll(cells, (dy, dx), (0, 1))
        for dy in (-1, 0, 1)
        for dx in (-1, 0, 1)
        if (dy, dx) != (0, 0)
    )
    new = (around == 3) | ((around == 2) & (cells == 1))
    packed = (new.reshape(rows, words, 32).astype(np.uint64) << shifts.astype(np.uint64)).sum(axis=2)
    return {"next": packed.astype(np.uint32), "alive": np.array([new.sum()], dtype=np.uint32)}
