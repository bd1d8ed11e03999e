"""SIGKILL before call n of those that change something, in the whole head; then again at m; then a third head to the end."""
from lab import *
import random
root = LAB / "base/repository"
import pickle
found = pickle.load(open(LAB / "found.pkl", "rb"))
STEPS = {"rename", "replace", "link", "unlink", "fsync", "fork_exec", "posix_spawn", "mkdir", "write", "ftruncate", "truncate", "utime", "flush"}
def killer(n):
    def before():
        c = [0]
        def watch(_f, ev, fn):
            if ev == "c_call" and getattr(fn, "__name__", "") in STEPS and type(getattr(fn, "__self__", None)).__name__ not in ("StringIO", "BytesIO", "TextIOWrapper"):
                c[0] += 1
                if c[0] == n: os.kill(os.getpid(), 9)
        sys.setprofile(watch)
        if not n: import atexit; before.c = c
    return before
def count():
    r = copy(root, "count"); p = r.parent / "n"
    def before():
        c = [0]
        def watch(_f, ev, fn):
            if ev == "c_call" and getattr(fn, "__name__", "") in STEPS and type(getattr(fn, "__self__", None)).__name__ not in ("StringIO", "BytesIO", "TextIOWrapper"):
                c[0] += 1
        sys.setprofile(watch)
        import threading
        def dump():
            while True: p.write_text(str(c[0])); time.sleep(.05)
        threading.Thread(target=dump, daemon=True).start()
    t = time.process_time(); forked(r, before); return int(p.read_text())
n = count(); print("steps", n, flush=True)
want = {**{a.assigned.id: None for a in found}}
d = random.Random(int(sys.argv[1])); fails = 0; until = time.time() + float(sys.argv[2]); trials = 0
dist = {}
while time.time() < until:
    trials += 1
    r = copy(root, f"kill{sys.argv[1]}")
    at = [d.randint(1, n), d.randint(1, n) if d.random() < .6 else 0]
    codes = []
    for k in at:
        if k: codes.append(forked(r, killer(k))[0])
        if k:
            cs = [tuple(x[1]) for x in commits(r)]
            dist[len(cs)] = dist.get(len(cs), 0) + 1
    code, said = forked(r, limit_s=25)
    if "no device has answered" in said[-400:]: code = 0  # P6, INVALID, may be tried again
    bad = problems(r, found, verify=trials % 4 == 0)
    if code: bad.append(f"code {code} {said[-1500:]}")
    cs = sorted(sorted(x[1]) for x in commits(r))
    if cs != [["P1", "P2", "P4", "P7"], ["P3"], ["P6"]]: bad.append(f"commits {cs}")
    if bad:
        fails += 1; print("seed", sys.argv[1], "trial", trials, "at", at, codes, bad, flush=True)
        if fails < 6: shutil.copytree(r.parent, LAB / f"fail{sys.argv[1]}-{trials}", symlinks=True, dirs_exist_ok=True)
print("trials", trials, "failed", fails, "commits after kill", dist)
