"""Journals: torn at each byte of the last record, NULs, 10 MB line, appended by another between, half written."""
from lab import *
import pickle, tempfile
from expctl.domain.errors import Refused
base = LAB / "base/repository"; found = pickle.load(open(LAB / "found.pkl", "rb"))
src = base / ".git/expctl/fleet/attempts/P1.1.jsonl"; raw = src.read_bytes()
print("journal", len(raw), "last", len(raw.rstrip(b"\n").rsplit(b"\n", 1)[1]))
d = Path(tempfile.mkdtemp(dir=LAB)) / "attempts"; d.mkdir(); p = d / "P1.1.jsonl"
J = lambda **k: FileJournal(d, kinds=KINDS, flushes=False, **k)
whole = J.__call__; p.write_bytes(raw); all_ = J().read("P1.1"); n = len(all_)
start = len(raw.rstrip(b"\n").rsplit(b"\n", 1)[0]) + 1
bad = []
for cut in range(start, len(raw)):
    for warm in (False, True):
        p.write_bytes(raw); j = J()
        if warm: j.append("P1.1", all_[-1]); j.read("P1.1"); size = p.stat().st_size  # knows the end
        p.write_bytes(raw[:cut])
        try:
            j.append("P1.1", all_[-1])          # append first, without reading
            got = J().read("P1.1")
            if list(got) != list(all_): bad.append((cut, warm, len(got)))
        except Exception as e: bad.append((cut, warm, repr(e)[:100]))
print("torn then append:", len(bad), bad[:3])
# same size, other contents: an append must not chain on a wrong sum
p.write_bytes(raw); j = J(); j.append("P1.1", all_[-1]); size = p.stat().st_size
j2 = J(); j2.forget("P1.1"); j2.extend("P1.1", all_); j2.append("P1.1", all_[-1]); print("same size again", p.stat().st_size == size)
j.append("P1.1", all_[-1])
try: print("then", len(J().read("P1.1")))
except Refused as e: print("then", e)
# another with same size but other contents (another proposal's run under the same number)
from msgspec.structs import replace as rp
other = [rp(e, worker="v") if hasattr(e, "worker") else e for e in all_]
j2.forget("P1.1"); j2.extend("P1.1", other); 
j = J(); j.extend("P1.1", ()); j.append("P1.1", all_[-1])
j2.forget("P1.1"); j2.extend("P1.1", all_); j2.append("P1.1", all_[-1]); j.append("P1.1", all_[-1])
try: print("replaced, same size:", len(J().read("P1.1")))
except Refused as e: print("replaced, same size: DAMAGED", e.found)
# two writers by turns
p.unlink(); a, b = J(), J()
for i, e in enumerate(all_): (a if i % 2 else b).append("P1.1", e)
print("two writers", list(J().read("P1.1")) == list(all_))
# disk full in the middle of an append (RLIMIT_FSIZE)
import resource
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
wrong = 0
for room in range(1, len(raw) - start + 1, 7):
    p.write_bytes(raw[:start]); j = J(); j.read("P1.1"); j.append("P1.1", all_[-1]); 
    p.write_bytes(raw[:start]); j = J(); j._end("P1.1")
    resource.setrlimit(resource.RLIMIT_FSIZE, (start + room, resource.RLIM_INFINITY))
    try: j.append("P1.1", all_[-1]); ok = True
    except BaseException as e: ok = type(e).__name__
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    if ok is not True:
        j.append("P1.1", all_[-1])
    try: got = J().read("P1.1")
    except Exception as e: got = repr(e)
    if list(got) not in (list(all_), [*all_, all_[-1]]): wrong += 1; print(room, ok, str(got)[:100])
print("full disk then append again, wrong:", wrong, "last outcome", ok)
# whole head on damaged journals
def play(name, change, kinds="x"):
    r = copy(base, "j-" + name); f = r / ".git/expctl/fleet/attempts/P1.1.jsonl"
    change(f); c, said = forked(r, limit_s=15)
    print("==", name, c, [x[1] for x in commits(r)], [x.name for x in (r/".git/expctl/fleet/attempts").glob("*")], problems(r, found, expect=[n for _, x, _ in commits(r) for n in x], verify=False), said[-250:] if "no device" not in said else "waits", flush=True)
play("nul-tail", lambda f: f.write_bytes(raw + b"\0" * 4096))
play("nul-line", lambda f: f.write_bytes(raw + b"\0" * 4096 + b"\n"))
play("nul-instead", lambda f: f.write_bytes(b"\0" * len(raw)))
play("10MB-line", lambda f: f.write_bytes(raw + b'{"seq": 1, "x": "' + b"a" * 10_000_000 + b'"}\n'))
play("10MB-torn", lambda f: f.write_bytes(raw + b'{"seq": 1, "x": "' + b"a" * 10_000_000))
play("empty", lambda f: f.write_bytes(b""))
play("cut-judged", lambda f: f.write_bytes(raw[:start + 10]))
