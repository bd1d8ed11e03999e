import numpy as np

case = {
    "kernel": "copy_bytes",
    # 5 and 21 are alike modulo 16; the last byte copied is the last of both arrays
    "shapes": {"bytes": 1999, "dst_off": 5, "src_off": 21, "dst_size": 2004, "src_size": 2020},
    "grid": [3],
    "block": [32],
    "arguments": [
        {"name": "dst", "dtype": "u8", "shape": ["dst_size"], "role": "inout"},
        {"name": "src", "dtype": "u8", "shape": ["src_size"]},
        {"name": "dst_off", "dtype": "i32", "value": "dst_off"},
        {"name": "src_off", "dtype": "i32", "value": "src_off"},
        {"name": "bytes", "dtype": "i32", "value": "bytes"},
    ],
}


def reference(arrays, shapes):
    dst = np.array(arrays["dst"], dtype=np.uint8).ravel()
    src = np.asarray(arrays["src"], dtype=np.uint8).ravel()
    d, s, k = shapes["dst_off"], shapes["src_off"], shapes["bytes"]
    dst[d : d + k] = src[s : s + k]
    return {"dst": dst}
