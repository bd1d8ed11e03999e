"""git gc --prune=now by the user while a batch lands (no hooks): is the repository sound afterwards, also after the command is typed again?"""
from lab import *
import lab, threading
n = int(sys.argv[1]) if len(sys.argv) > 1 else 24
kinds = "".join("-" if (i + 1) % 5 == 0 else "R" for i in range(n))
root, found = make("gcbase", kinds)
# every candidate its own blob: the made-up patch is by id
for trial in range(int(sys.argv[2]) if len(sys.argv) > 2 else 3):
    r = copy(root, "gc")
    gcs = subprocess.Popen(["bash", "-c", f"while :; do git -C {r} gc -q --prune=now 2>>{r.parent}/gcsaid; sleep .05; done"])
    c, said = forked(r, limit_s=60)
    gcs.kill(); gcs.wait(); time.sleep(1)
    (r / ".git/gc.pid").unlink(missing_ok=True)
    f = subprocess.run(["git", "fsck", "--no-dangling"], cwd=r, capture_output=True, text=True)
    g = subprocess.run(["git", "gc", "-q", "--prune=now"], cwd=r, capture_output=True, text=True)
    print("trial", trial, "head", c, "commits", len(commits(r)), "fsck", f.returncode, (f.stdout + f.stderr)[-300:], "gc", g.returncode, g.stderr[-200:], "| landing", [l[:110] for l in said.splitlines() if "landing" in l], flush=True)
    if f.returncode or c:
        c, said = forked(r, limit_s=60)
        f = subprocess.run(["git", "fsck", "--no-dangling"], cwd=r, capture_output=True, text=True)
        print("   again", c, len(commits(r)), "fsck", f.returncode, f.stdout[-200:], "verify", subprocess.run(["/tmp/w/batk47/.venv/bin/expctl", "verify"], cwd=r, capture_output=True, text=True).returncode, "clone", subprocess.run(["git", "clone", "-q", "--mirror", str(r), str(r.parent / "cl")], capture_output=True, text=True).stderr[-200:])
