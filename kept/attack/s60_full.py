"""A full disk: a small tmpfs, filled but for some KiB, while the head lands; then room, and the same command again."""
from lab import *
import pickle, resource
base = LAB / "base/repository"; found = pickle.load(open(LAB / "found.pkl", "rb"))
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
m = LAB / "small"; m.mkdir(exist_ok=True)
have = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=6m", "tmpfs", str(m)], capture_output=True, text=True)
print("mount", have.returncode, have.stderr.strip())
frees = [0, 4, 8, 12, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 200, 260, 320, 400]
until = time.time() + 200
for k in frees:
    if time.time() > until: break
    if have.returncode == 0:
        for x in m.iterdir(): shutil.rmtree(x, ignore_errors=True) if x.is_dir() else x.unlink()
        r = copy(base, "small/d")
        s = os.statvfs(m); free = s.f_bavail * s.f_frsize
        (m / "fill").write_bytes(b"x" * max(0, free - k * 1024))
        c, said = forked(r, limit_s=15)
        (m / "fill").unlink()
    else:
        r = copy(base, "small-d")
        c, said = forked(r, before=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100 + k * 40, resource.RLIM_INFINITY)), limit_s=15)
    cs = [x[1] for x in commits(r)]
    c2, said2 = forked(r, limit_s=20)
    if "no device has answered" in said2[-400:]: c2 = "0*"
    bad = problems(r, found, verify=k % 16 == 0)
    why = [l for l in said.splitlines() if "Error" in l or "Full" in l or "one by one" in l][-2:]
    print("free", k, "first", c, cs, [x[:140] for x in why], "then", c2, [x[1] for x in commits(r)], bad, flush=True)
if have.returncode == 0: subprocess.run(["umount", str(m)])
