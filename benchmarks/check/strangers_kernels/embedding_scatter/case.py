import numpy as np

PAD = 3
IDS = [0, 3, 10, 11, -1, 2, 2, 7, 9, 0, 5, 3, 10, 1, 11, 4, 2, -1, 6, 8, 2]

case = {
    "kernel": "embed_scatter_add",
    "shapes": {"tokens": 21, "dim": 37, "vocab": 11},
    "vary": {"dim": [1, 80]},
    "grid": ["(tokens + 3) // 4"],
    "block": [32, 4],
    "arguments": [
        {"name": "ids", "dtype": "i32", "shape": ["tokens"], "values": IDS},
        {"name": "grad", "dtype": "i32", "shape": ["tokens", "dim"], "values": {"low": 1, "high": 5000}},
        {"name": "acc", "dtype": "i32", "shape": ["vocab", "dim"], "role": "inout",
         "values": {"low": -1000, "high": 1000}},
        {"name": "hits", "dtype": "i32", "shape": ["vocab"], "role": "inout", "values": "zeros"},
        {"name": "tokens", "dtype": "i32", "value": "tokens"},
        {"name": "dim", "dtype": "i32", "value": "dim"},
        {"name": "vocab", "dtype": "i32", "value": "vocab"},
        {"name": "pad_id", "dtype": "i32", "value": PAD},
    ],
}


def reference(arrays, shapes):
    tokens, dim, vocab = shapes["tokens"], shapes["dim"], shapes["vocab"]
    ids = np.asarray(arrays["ids"]).reshape(tokens)
    grad = np.asarray(arrays["grad"]).reshape(tokens, dim)
    acc = np.array(arrays["acc"], dtype=np.int64).reshape(vocab, dim)
    hits = np.array(arrays["hits"], dtype=np.int64).reshape(vocab)
    for t in range(tokens):
        w = int(ids[t])
        if w == PAD or w < 0 or w >= vocab:
            continue
        acc[w] += grad[t]
        hits[w] += 1
    return {"acc": acc.astype(np.int32), "hits": hits.astype(np.int32)}
