import numpy as np

N, SOURCE, LEVEL = 409, 3, 3


def _graph():
    """A ring with random chords, the distances up to LEVEL, and the frontier there."""
    rng = np.random.default_rng(23)
    adjacent = [{(v + 1) % N, (v - 1) % N} for v in range(N)]
    for a, b in rng.integers(0, N, size=(700, 2)):
        if a != b:
            adjacent[a].add(int(b))
            adjacent[b].add(int(a))
    adjacent[5].add(N - 1)
    starts, targets = [0], []
    for v in range(N):
        targets += sorted(int(w) for w in adjacent[v])
        starts.append(len(targets))
    dist = [-1] * N
    dist[SOURCE] = 0
    level = [SOURCE]
    for d in range(LEVEL):
        following = []
        for v in level:
            for w in targets[starts[v] : starts[v + 1]]:
                if dist[w] < 0:
                    dist[w] = d + 1
                    following.append(w)
        level = following
    return starts, targets, dist, level


STARTS, TARGETS, DIST, FRONTIER = _graph()
NEXT = sorted({w for v in FRONTIER for w in TARGETS[STARTS[v] : STARTS[v + 1]] if DIST[w] < 0})

case = {
    "kernel": "bfs_step",
    "shapes": {
        "n": N, "starts": N + 1, "edges": len(TARGETS),
        "frontier_size": len(FRONTIER), "found": len(NEXT),
    },
    "grid": ["(frontier_size + 31) // 32 + 1"],
    "block": [32],
    "arguments": [
        {"name": "row_start", "dtype": "i32", "shape": ["starts"], "values": STARTS},
        {"name": "neighbours", "dtype": "i32", "shape": ["edges"], "values": TARGETS},
        {"name": "frontier", "dtype": "i32", "shape": ["frontier_size"], "values": FRONTIER},
        {"name": "frontier_size", "dtype": "i32", "value": "frontier_size"},
        {"name": "level", "dtype": "i32", "value": LEVEL},
        {"name": "distance", "dtype": "i32", "shape": ["n"], "role": "inout", "values": DIST},
        # exactly as long as the new frontier: a vertex queued twice runs past the end
        {"name": "next", "dtype": "i32", "shape": ["found"], "role": "out"},
        {"name": "next_size", "dtype": "u32", "shape": [1], "role": "inout", "values": "zeros"},
        {"name": "checksum", "dtype": "u32", "shape": [1], "role": "inout", "values": "zeros"},
        {"name": "mark", "dtype": "u8", "shape": ["n"], "role": "inout", "values": "zeros"},
    ],
}


def reference(arrays, shapes):
    starts = np.asarray(arrays["row_start"]).ravel()
    targets = np.asarray(arrays["neighbours"]).ravel()
    dist = np.array(arrays["distance"]).ravel()
    found = set()
    for v in np.asarray(arrays["frontier"]).ravel():
        found.update(int(w) for w in targets[starts[v] : starts[v + 1]] if dist[w] == -1)
    found = np.array(sorted(found), dtype=np.int64)
    dist[found] = LEVEL + 1
    mark = np.zeros(shapes["n"], dtype=np.uint8)
    mark[found] = 1
    total = sum(int(w) * 2654435761 + 1 for w in found) & 0xFFFFFFFF
    # the order of `next` is not defined: it is checked through the checksum
    return {
        "distance": dist,
        "next_size": np.array([len(found)], dtype=np.uint32),
        "checksum": np.array([total], dtype=np.uint32),
        "mark": mark,
    }
