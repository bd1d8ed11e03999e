import numpy as np

NA, NB = 500, 371


def sorted_keys(count, seed):
    state, out = seed, []
    for _ in range(count):
        state = (state * 1103515245 + 12345) % 2 ** 31
        out.append(state // 65536 % 900 - 450)
    return sorted(out)


case = {
    "kernel": "merge_sorted",
    "shapes": {"na": NA, "nb": NB, "total": NA + NB},
    "grid": ["(total + 255) // 256"],
    "block": [64],
    "arguments": [
        {"name": "a", "dtype": "i32", "shape": ["na"], "values": sorted_keys(NA, 7)},
        {"name": "b", "dtype": "i32", "shape": ["nb"], "values": sorted_keys(NB, 1234)},
        {"name": "out", "dtype": "i32", "shape": ["total"], "role": "out"},
        {"name": "na", "dtype": "i32", "value": "na"},
        {"name": "nb", "dtype": "i32", "value": "nb"},
    ],
}


def reference(arrays, shapes):
    both = np.concatenate([np.asarray(arrays["a"]).reshape(-1), np.asarray(arrays["b"]).reshape(-1)])
    return {"out": np.sort(both).astype(np.int32)}
