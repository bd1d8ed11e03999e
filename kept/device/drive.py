"""long_form without the two longest classes: its rows are completed by --go-on."""
import json, multiprocessing, os, sys
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from tests.faults.fault_classes import CLASSES
from tests.faults.long_form import Table, row_of, take_core
def main():
    trials, seed, jobs, out = int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), Path(sys.argv[4])
    table = Table.of(trials, seed)
    names = [c.name for c in sorted(CLASSES, key=lambda c: -c.share) if c.share < 3]
    ctx = multiprocessing.get_context("spawn"); cores = ctx.Queue()
    for core in sorted(os.sched_getaffinity(0), reverse=True)[:jobs]: cores.put(core)
    with ProcessPoolExecutor(jobs, ctx, initializer=take_core, initargs=(cores,)) as pool:
        for f in as_completed([pool.submit(row_of, n, trials, seed) for n in names]):
            row, s = f.result(); table.rows[row.name] = row; print(f"{row.in_words()} ({s:.0f} s)", flush=True)
            out.write_text(json.dumps(table.plain(), indent=1) + "\n")
    print(table.trials(), "trials", table.violations(), "violations")
if __name__ == "__main__": main()
