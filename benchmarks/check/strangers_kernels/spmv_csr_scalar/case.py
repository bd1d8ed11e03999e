import numpy as np

ROWS, COLS = 203, 97


def _matrix():
    rng = np.random.default_rng(5)
    ptr, idx = [0], []
    for r in range(ROWS):
        k = int(rng.integers(0, 9))          # some rows are empty
        idx += sorted(int(c) for c in rng.choice(COLS, size=k, replace=False))
        ptr.append(len(idx))
    idx += [0, COLS - 1, 50]                 # the last row ends in the last column
    ptr[-1] = len(idx)
    return ptr, idx


PTR, IDX = _matrix()

case = {
    "kernel": "spmv_csr_scalar",
    "shapes": {"rows": ROWS, "cols": COLS, "nnz": len(IDX), "ptrs": ROWS + 1},
    "grid": ["(rows + 63) // 64"],
    "block": [64],
    "arguments": [
        {"name": "row_ptr", "dtype": "i32", "shape": ["ptrs"], "values": PTR},
        {"name": "col_idx", "dtype": "i32", "shape": ["nnz"], "values": IDX},
        {"name": "vals", "dtype": "f32", "shape": ["nnz"]},
        {"name": "x", "dtype": "f32", "shape": ["cols"]},
        {"name": "y", "dtype": "f32", "shape": ["rows"], "role": "inout"},
        {"name": "alpha", "dtype": "f32", "value": 1.5},
        {"name": "beta", "dtype": "f32", "value": -0.25},
        {"name": "rows", "dtype": "i32", "value": "rows"},
    ],
    "limits": {"y": {"rel": 1e-4, "abs": 2e-5}},
}


def reference(arrays, shapes):
    ptr = np.asarray(arrays["row_ptr"]).ravel()
    idx = np.asarray(arrays["col_idx"]).ravel()
    prod = np.asarray(arrays["vals"], dtype=np.float64) * np.asarray(arrays["x"], dtype=np.float64)[idx]
    sums = np.array([prod[ptr[r] : ptr[r + 1]].sum() for r in range(shapes["rows"])])
    return {"y": 1.5 * sums - 0.25 * np.asarray(arrays["y"], dtype=np.float64)}
