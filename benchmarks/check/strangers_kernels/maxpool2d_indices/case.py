import numpy as np

K, STRIDE, PAD = 3, 2, 1

# oh = (h + 2 * PAD - K) // STRIDE + 1, ow likewise
case = {
    "kernel": "maxpool2d",
    "shapes": {"planes": 6, "h": 17, "w": 19, "oh": 9, "ow": 10},
    "vary": {"planes": [1, 7]},
    "grid": ["(ow + 15) // 16", "(oh + 7) // 8", "planes"],
    "block": [16, 8, 1],
    "arguments": [
        {"name": "x", "dtype": "f32", "shape": ["planes", "h", "w"]},
        {"name": "y", "dtype": "f32", "shape": ["planes", "oh", "ow"], "role": "out"},
        {"name": "idx", "dtype": "i32", "shape": ["planes", "oh", "ow"], "role": "out"},
        {"name": "h", "dtype": "i32", "value": "h"},
        {"name": "w", "dtype": "i32", "value": "w"},
        {"name": "oh", "dtype": "i32", "value": "oh"},
        {"name": "ow", "dtype": "i32", "value": "ow"},
        {"name": "k", "dtype": "i32", "value": K},
        {"name": "stride", "dtype": "i32", "value": STRIDE},
        {"name": "pad", "dtype": "i32", "value": PAD},
    ],
}


def reference(arrays, shapes):
    planes, h, w = shapes["planes"], shapes["h"], shapes["w"]
    oh, ow = shapes["oh"], shapes["ow"]
    x = np.asarray(arrays["x"]).reshape(planes, h, w)
    y = np.zeros((planes, oh, ow), dtype=np.float32)
    idx = np.zeros((planes, oh, ow), dtype=np.int32)
    for p in range(planes):
        for oy in range(oh):
            for ox in range(ow):
                best, where = -3.402823e38, -1
                for iy in range(max(oy * STRIDE - PAD, 0), min(oy * STRIDE - PAD + K, h)):
                    for ix in range(max(ox * STRIDE - PAD, 0), min(ox * STRIDE - PAD + K, w)):
                        if x[p, iy, ix] > best:
                            best, where = float(x[p, iy, ix]), iy * w + ix
                y[p, oy, ox] = best
                idx[p, oy, ox] = where
    return {"y": y, "idx": idx}
