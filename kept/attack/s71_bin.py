from lab import *
from expctl.adapters.git import patch_ids as P
from expctl.adapters.git.patch_header import with_headers
root = LAB / "binrepo"; shutil.rmtree(root, ignore_errors=True); root.mkdir(); git(root, "init", "-q")
(root / "x").write_bytes(bytes(range(256))); (root / "y").write_text("a\n"); git(root, "add", "."); git(root, "commit", "-qm", "a")
def diff():
    out = subprocess.run(["git", "diff", "--binary"], cwd=root, capture_output=True).stdout; git(root, "checkout", "-q", "."); return out
pats = []
for n in (1, 2): (root / "x").write_bytes(bytes(range(n, 200))); pats.append(diff()); (root / "y").write_text(f"{n}\n"); pats.append(diff())
(root / "y").chmod(0o755); pats.append(diff())
def ask(t): return subprocess.run(["git", "patch-id", "--stable"], cwd=root, input=t, capture_output=True, check=True).stdout
al = [(ask(with_headers(p)).decode().split() or [""])[0] for p in pats]
P._known.clear(); print("real binary, text, mode equal:", P.patch_ids(pats, ask) == al)
