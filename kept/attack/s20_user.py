"""What a user does meanwhile, before the head starts (results wait). Each: setup(root, found) -> (expect names or None, status)"""
from lab import *
import pickle
base = LAB / "base/repository"; found = pickle.load(open(LAB / "found.pkl", "rb"))
only = sys.argv[1:]
def run(name, setup, expect=None, status="?? notes", code=0, more=lambda r: [], verify=True):
    if only and name not in only: return
    r = copy(base, "u-" + name)
    try:
        setup(r)
        c, said = forked(r, limit_s=20)
        bad = [] if c == code else [f"code {c}: {said[-900:]}"]
        bad += problems(r, found, expect=expect, status=status, verify=verify)
        bad += more(r)
    except BaseException as e:
        import traceback
        bad = ["EXC " + traceback.format_exc()[-700:]]
        said = ""
    print("==", name, "OK" if not bad else bad, [x[1] for x in commits(r)], flush=True)
    (LAB / f"said-{name}").write_text(said)
def w(p, t): p.parent.mkdir(parents=True, exist_ok=True); p.write_text(t)
# staged foreign file and edited tracked file
def dirty(r):
    w(r / "staged.txt", "s\n"); git(r, "add", "staged.txt"); w(r / "README2", "x")
    w(r/"docs.txt", "v1"); 
run("staged", dirty, status="A  staged.txt\n?? README2\n?? docs.txt\n?? notes", more=lambda r: [] if "staged.txt" not in git(r, "ls-tree", "-r", "--name-only", "HEAD") else ["staged committed"])
run("ledger-edited", lambda r: w(r / "ledger.md", "mine\n"), expect=[], status="M ledger.md\n?? notes", code=7)
def packed(r): git(r, "pack-refs", "--all"); git(r, "gc", "-q", "--prune=now")
run("packed", packed)
run("detached", lambda r: git(r, "checkout", "-q", "--detach"), expect=[], code=7)
run("stale-index-lock", lambda r: w(r / ".git/index.lock", ""), expect=[], code=7)
run("stale-ref-lock", lambda r: w(r / ".git/refs/heads/main.lock", ""), expect=[], code=7)
def userlock(r):
    w(r / ".git/index.lock", "")
    subprocess.Popen(["bash", "-c", f"sleep 6; rm {r}/.git/index.lock"])
run("live-index-lock", userlock)
def edit(r): w(r / "experiments/P2/experiment.yaml", (r / "experiments/P2/experiment.yaml").read_text() + "# e\n")
run("edited-proposal", edit, expect=["P1","P3","P4","P6","P7"], status="M experiments/P2/experiment.yaml\n?? notes")
def edit2(r): edit(r); git(r, "commit", "-qam", "edit P2")
run("edited-committed", edit2, expect=["P1","P3","P4","P6","P7"])
def gone(r): git(r, "rm", "-rq", "experiments/P2"); git(r, "commit", "-qm", "gone")
run("deleted-committed", gone, expect=["P1","P3","P4","P6","P7"])
def gone2(r): shutil.rmtree(r / "experiments/P2")
run("deleted-worktree", gone2, expect=["P1","P3","P4","P6","P7"], status="D experiments/P2/change.patch\n D experiments/P2/experiment.yaml\n D experiments/P2/queued.json\n?? notes")
def untracked(r): w(r / "experiments/P2/record.json", "mine\n")
run("untracked-record", untracked, expect=[], status="?? experiments/P2/record.json\n?? notes", code=7)
def moved(r): w(r / "other.md", "hello\n"); git(r, "add", "other.md"); git(r, "commit", "-qm", "user")
run("user-commit", moved)
def merge(r):
    git(r, "checkout", "-qb", "side"); moved(r); git(r, "checkout", "-q", "main"); w(r/"third.md","t"); git(r,"add","third.md"); git(r,"commit","-qm","third"); git(r, "merge", "-q", "--no-commit", "--no-ff", "side")
run("merge-under-way", merge, expect=[], status="A  other.md\n?? notes", code=7)
def hook(r):
    h = r / ".git/hooks/reference-transaction"; w(h, "#!/bin/sh\n[ \"$1\" = prepared ] || exit 0\nwhile read o n ref; do case $ref in refs/heads/*) exit 1;; esac; done\n"); h.chmod(0o755)
run("hook-refuses", hook, expect=[], code=7)
def worktree(r): git(r, "worktree", "add", "-q", str(r.parent / "wt"), "-b", "wt")
run("other-worktree", worktree)
def config(r):
    for k, v in (("core.autocrlf", "true"), ("i18n.commitEncoding", "ISO-8859-1"), ("core.quotePath", "true"), ("status.showUntrackedFiles", "no"), ("diff.noprefix", "true"), ("core.fsmonitor", "false"), ("log.showSignature", "true"), ("feature.manyFiles", "true")): git(r, "config", k, v)
run("config", config, status="")
def replaced(r): git(r, "config", "core.splitIndex", "true"); git(r, "update-index", "--split-index")
run("split-index", replaced)
def withdrawn(r): subprocess.run(["/tmp/w/batk47/.venv/bin/expctl", "withdraw", "P2", "--why", "no"], cwd=r, check=True, capture_output=True)
run("withdrawn", withdrawn)
def kernel(r): p = r / "src/total.py"; w(p, p.read_text() + "\n# user\n"); git(r, "commit", "-qam", "kernel")
run("user-kernel-elsewhere-notkept", kernel, expect=["P1","P2","P4","P6","P7"], code=7)
