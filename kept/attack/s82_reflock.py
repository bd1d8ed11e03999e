"""Another git holds refs/heads/main.lock (with its own new id in it) while results land; then it goes; the same command again."""
from lab import *
import pickle
base = LAB / "base/repository"; found = pickle.load(open(LAB / "found.pkl", "rb"))
r = copy(base, "rl"); lock = r / ".git/refs/heads/main.lock"; lock.write_text("1" * 40 + "\n")
c, said = forked(r, limit_s=25)
print("first", c, [x[1] for x in commits(r)], [l[:110] for l in said.splitlines() if "one by one" in l])
for x in sorted((r / ".git/expctl/fleet/attempts").glob("*")): t = x.read_text(); print("  ", x.name, "GivenUp: " + t.split("GivenUp")[1][9:70] if "GivenUp" in t else "open")
print("  journals", [x.name for x in (r / ".git/expctl/journal").glob("*")])
lock.unlink()
c, said = forked(r, limit_s=20)
print("again", c, [x[1] for x in commits(r)], "waits for a device" if "no device" in said[-500:] else said[-300:])
