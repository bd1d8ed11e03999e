import numpy as np

SALT, BUCKETS = 40503, 40

case = {
    "kernel": "bucket_count",
    "shapes": {"n": 1001},
    "vary": {"n": [1, 1500]},
    "grid": [3],
    "block": [128],
    "arguments": [
        {"name": "keys", "dtype": "u32", "shape": ["n"]},
        {"name": "counts", "dtype": "i32", "shape": [BUCKETS], "role": "inout", "values": "zeros"},
        {"name": "n", "dtype": "i32", "value": "n"},
        {"name": "salt", "dtype": "u32", "value": SALT},
    ],
}


def reference(arrays, shapes):
    mask = np.uint64(0xFFFFFFFF)
    h = np.asarray(arrays["keys"]).reshape(-1).astype(np.uint64)
    h = h ^ np.uint64(SALT)
    h = h ^ (h >> np.uint64(16))
    h = (h * np.uint64(0x7FEB352D)) & mask
    h = h ^ (h >> np.uint64(15))
    h = (h * np.uint64(0x846CA68B)) & mask
    h = h ^ (h >> np.uint64(16))
    bucket = (h % np.uint64(BUCKETS)).astype(np.int64)
    counts = np.asarray(arrays["counts"]).reshape(BUCKETS) + np.bincount(bucket, minlength=BUCKETS)
    return {"counts": counts.astype(np.int32)}
