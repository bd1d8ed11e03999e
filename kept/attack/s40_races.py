"""Things that happen between the writing of the objects and the move of the branch, or amid the batch."""
from lab import *
import pickle, threading, lab, expctl.adapters.git.known_objects as ko
base = LAB / "base/repository"; found = pickle.load(open(LAB / "found.pkl", "rb"))
only = sys.argv[1:]
def w(p, t): p.parent.mkdir(parents=True, exist_ok=True); p.write_text(t)
def run(name, act, where="commit_files", times=1, expect=None, status="?? notes", code=0, every=True, pre=lambda r: None, root=None, fnd=None):
    if only and name not in only: return
    r = copy(root or base, "r-" + name); f = fnd or found
    pre(r)
    def hook(made):
        ws = made.workspace; left = [times]; real = getattr(ws, where)
        def wrapped(*a, **k):
            out = real(*a, **k)
            if left[0] and act: left[0] -= 1; act(r)
            return out
        object.__setattr__(ws, where, wrapped)
    real_head = lab.head
    def h(root, **k): return real_head(root, hook=hook, **k)
    lab.head = h
    try: c, said = forked(r, limit_s=20)
    finally: lab.head = real_head
    try:
        bad = [] if c == code else [f"code {c}: {said[-1200:]}"]
        bad += problems(r, f, expect=expect, status=status, every=every)
    except BaseException as e:
        import traceback; bad = ["EXC " + traceback.format_exc()[-500:]]
    print("==", name, "OK" if not bad else bad, [x[1] for x in commits(r)], [l for l in said.splitlines() if "landing" in l][:2], flush=True)
def user(r): w(r / "other.md", "x"); git(r, "add", "other.md"); git(r, "commit", "-qm", "user")
def gc(r): git(r, "reflog", "expire", "--expire=now", "--all"); git(r, "gc", "-q", "--prune=now")
run("gc-before-ref", gc)
run("gc-each", gc, times=9)
run("gc-after-candidate", gc, where="parent", times=9)
run("gc-after-pin", gc, where="pin", times=9)
run("repack", lambda r: (git(r, "repack", "-adq"), git(r, "pack-refs", "--all"), git(r, "prune-packed")), times=9)
run("user-commit-between", user)
run("branch-switched", lambda r: git(r, "checkout", "-qb", "side"), expect=[], code=7, every=False)
run("detached-between", lambda r: git(r, "checkout", "-q", "--detach"), expect=[], code=7)
def killcat(r):
    me = os.getpid()
    for d in Path("/proc").glob("[0-9]*"):
        try:
            if (d / "stat").read_text().split(") ")[1].split()[1] == str(me) and b"cat-file" in (d / "cmdline").read_bytes(): os.kill(int(d.name), 9)
        except OSError: pass
run("cat-file-killed", killcat, times=9)
run("cat-file-killed2", killcat, where="pin", times=9)
run("known-forgets", None, pre=lambda r: (setattr(ko, "BYTES_MAX", 700)))
ko.BYTES_MAX = 1 << 25
run("known-small", None, pre=lambda r: (setattr(ko, "LARGEST", 150)))
ko.LARGEST = 1 << 20
def staged(r): w(r / "st.md", "x"); git(r, "add", "st.md")
run("staged-between", staged, status="A  st.md\n?? notes")
def recfile(r): w(r / "experiments/P2/record.json", "mine")
run("own-record-between", recfile, status="?? experiments/P2/record.json\n?? notes", expect=[], code=7)
