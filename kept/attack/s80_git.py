"""A slow git, and one that fails at random, first in PATH; then a sound one and the same command again."""
from lab import *
import pickle, random
base = LAB / "base/repository"; found = pickle.load(open(LAB / "found.pkl", "rb"))
real = shutil.which("git"); b = LAB / "bin"; b.mkdir(exist_ok=True)
def wrap(text): (b / "git").write_text(f"#!/bin/bash\n{text}\nexec {real} \"$@\"\n"); (b / "git").chmod(0o755)
def withbin(): os.environ["PATH"] = f"{b}:" + os.environ["PATH"]
def play(name, text, times=1):
    wrap(text)
    for t in range(times):
        r = copy(base, "g")
        c, said = forked(r, before=withbin, limit_s=60)
        cs = [x[1] for x in commits(r)]
        c2, said2 = forked(r, limit_s=20)
        if "no device has answered" in said2[-400:]: c2 = "0*"
        print("==", name, c, cs, [l[:120] for l in said.splitlines() if "one by one" in l][:1], "then", c2, [x[1] for x in commits(r)], problems(r, found, verify=False), flush=True)
play("slow", "sleep 0.15")
play("fails", "[ $((RANDOM % 14)) = 0 ] && { echo 'fatal: odd' >&2; exit 128; }", 4)
play("killed", "[ $((RANDOM % 14)) = 0 ] && kill -9 $$", 3)
