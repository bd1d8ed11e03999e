import numpy as np

ROWS, COLS = 53, 131


def _build():
    rng = np.random.default_rng(11)
    offsets, columns = [0], []
    for r in range(ROWS):
        # empty rows, short rows, and rows of more than one and two waves
        k = int(rng.choice([0, 1, 5, 31, 32, 33, 70, 110]))
        columns += [int(c) for c in np.sort(rng.choice(COLS, size=k, replace=False))]
        offsets.append(len(columns))
    columns += list(range(37))
    offsets[-1] = len(columns)
    return offsets, columns


OFFSETS, COLUMNS = _build()

case = {
    "kernel": "spmv_csr_vector",
    "shapes": {"rows": ROWS, "cols": COLS, "ptrs": ROWS + 1, "nnz": len(COLUMNS)},
    "grid": [6],
    "block": [128],
    "arguments": [
        {"name": "rows", "dtype": "i32", "value": "rows"},
        {"name": "offsets", "dtype": "i32", "shape": ["ptrs"], "values": OFFSETS},
        {"name": "columns", "dtype": "i32", "shape": ["nnz"], "values": COLUMNS},
        {"name": "values", "dtype": "f32", "shape": ["nnz"], "values": {"low": -1.0, "high": 1.0}},
        {"name": "x", "dtype": "f32", "shape": ["cols"], "values": {"low": -1.0, "high": 1.0}},
        {"name": "y", "dtype": "f32", "shape": ["rows"], "role": "out"},
    ],
    "limits": {"y": {"rel": 1e-4, "abs": 2e-5}},
}


def reference(arrays, shapes):
    o = np.asarray(arrays["offsets"]).ravel()
    c = np.asarray(arrays["columns"]).ravel()
    prod = np.asarray(arrays["values"], dtype=np.float64) * np.asarray(arrays["x"], dtype=np.float64)[c]
    return {"y": np.array([prod[o[r] : o[r + 1]].sum() for r in range(shapes["rows"])])}
