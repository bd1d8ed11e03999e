import numpy as np

N, NKEYS = 300, 13
# key 5 has no element
KEYS = [6 if i * NKEYS // N == 5 else i * NKEYS // N for i in range(N)]

case = {
    "kernel": "seg_sum_sorted",
    "shapes": {"n": N, "nkeys": NKEYS},
    "grid": ["(n + 127) // 128"],
    "block": [128],
    "arguments": [
        {"name": "keys", "dtype": "i32", "shape": ["n"], "values": KEYS},
        {"name": "vals", "dtype": "i32", "shape": ["n"], "values": {"low": 1, "high": 10000}},
        {"name": "sums", "dtype": "i32", "shape": ["nkeys"], "role": "inout", "values": "zeros"},
        {"name": "counts", "dtype": "i32", "shape": ["nkeys"], "role": "inout", "values": "zeros"},
        {"name": "n", "dtype": "i32", "value": "n"},
    ],
}


def reference(arrays, shapes):
    n, nkeys = shapes["n"], shapes["nkeys"]
    keys = np.asarray(arrays["keys"]).reshape(n)
    vals = np.asarray(arrays["vals"]).reshape(n)
    sums = np.array(arrays["sums"], dtype=np.int64).reshape(nkeys)
    counts = np.array(arrays["counts"], dtype=np.int64).reshape(nkeys)
    np.add.at(sums, keys, vals)
    np.add.at(counts, keys, 1)
    return {"sums": sums.astype(np.int32), "counts": counts.astype(np.int32)}
