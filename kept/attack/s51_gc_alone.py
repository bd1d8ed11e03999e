"""The same gc injection with one result, i.e. the path that every landing took before: between candidate and ref, and after the ref."""
from lab import *
import lab
root, found = make("one", "R")
def gc(r): subprocess.run(["git", "reflog", "expire", "--expire=now", "--all"], cwd=r); subprocess.run(["git", "gc", "-q", "--prune=now"], cwd=r, capture_output=True)
for where in ("candidate_tree", "rebased_tree", "pin", "parent"):
    r = copy(root, "o-" + where)
    def hook(made):
        ws = made.workspace; real = getattr(ws, where)
        def wrapped(*a, **k):
            out = real(*a, **k); gc(r); return out
        object.__setattr__(ws, where, wrapped)
    rh = lab.head
    lab.head = lambda root, **k: rh(root, hook=hook, **k)
    c, said = forked(r, limit_s=15); lab.head = rh
    f = subprocess.run(["git", "fsck", "--no-dangling"], cwd=r, capture_output=True, text=True)
    print(where, c, len(commits(r)), "fsck", f.returncode, f.stdout[-150:], said[-300:] if c else "", flush=True)
