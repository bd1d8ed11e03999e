import numpy as np

case = {
    "kernel": "rank_sort",
    "shapes": {"n": 301},
    "vary": {"n": [1, 400]},
    "grid": ["(n + 63) // 64"],
    "block": [64],
    "arguments": [
        {"name": "keys", "dtype": "i32", "shape": ["n"], "values": {"low": -50, "high": 50}},
        {"name": "sorted", "dtype": "i32", "shape": ["n"], "role": "out"},
        {"name": "order", "dtype": "i32", "shape": ["n"], "role": "out"},
        {"name": "n", "dtype": "i32", "value": "n"},
    ],
}


def reference(arrays, shapes):
    keys = arrays["keys"]
    order = np.argsort(keys, kind="stable")
    return {"sorted": keys[order], "order": order.astype(np.int32)}
