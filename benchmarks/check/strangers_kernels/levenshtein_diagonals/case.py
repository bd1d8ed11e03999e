import numpy as np

LEN_A = [45, 33, 40, 1, 28, 45]
LEN_B = [37, 37, 20, 30, 1, 36]

case = {
    "kernel": "levenshtein",
    "shapes": {"pairs": 6, "la": 45, "lb": 37},
    "grid": ["pairs"],
    "block": [64],
    "arguments": [
        {"name": "a", "dtype": "u8", "shape": ["pairs", "la"], "values": {"low": 97, "high": 100}},
        {"name": "b", "dtype": "u8", "shape": ["pairs", "lb"], "values": {"low": 97, "high": 100}},
        {"name": "len_a", "dtype": "i32", "shape": ["pairs"], "values": LEN_A},
        {"name": "len_b", "dtype": "i32", "shape": ["pairs"], "values": LEN_B},
        {"name": "dist", "dtype": "i32", "shape": ["pairs"], "role": "out"},
        {"name": "stride_a", "dtype": "i32", "value": "la"},
        {"name": "stride_b", "dtype": "i32", "value": "lb"},
    ],
}


def edit_distance(s, t):
    row = list(range(len(t) + 1))
    for i in range(1, len(s) + 1):
        new = [i] + [0] * len(t)
        for j in range(1, len(t) + 1):
            new[j] = min(row[j] + 1, new[j - 1] + 1, row[j - 1] + (s[i - 1] != t[j - 1]))
        row = new
    return row[len(t)]


def reference(arrays, shapes):
    pairs = shapes["pairs"]
    a = np.asarray(arrays["a"]).reshape(pairs, shapes["la"])
    b = np.asarray(arrays["b"]).reshape(pairs, shapes["lb"])
    la = np.asarray(arrays["len_a"]).reshape(pairs)
    lb = np.asarray(arrays["len_b"]).reshape(pairs)
    out = [edit_distance(a[p, :la[p]].tolist(), b[p, :lb[p]].tolist()) for p in range(pairs)]
    return {"dist": np.array(out, dtype=np.int32)}
