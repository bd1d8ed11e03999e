from lab import *
root, found = make("base", "RCKR-VR")
import pickle; pickle.dump(found, open(LAB / "found.pkl", "wb"))
t=time.process_time()
r2 = copy(root, "basic")
code, said = forked(r2)
print(code, said[-3500:])
for h, r, v in commits(r2): print(r, v)
base = [x for x in problems(r2, found)]
print("PROBLEMS", base)
r = subprocess.run(["/tmp/w/batk47/.venv/bin/expctl", "verify"], cwd=root, capture_output=True, text=True); print("verify before", r.returncode, (r.stdout+r.stderr)[-400:])
