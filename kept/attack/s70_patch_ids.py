"""Ids asked together against ids asked alone, on odd patches."""
from lab import *
from expctl.adapters.git import patch_ids as P
from expctl.adapters.git.patch_header import with_headers
root = LAB / "base/repository"
def ask(t): return subprocess.run(["git", "patch-id", "--stable"], cwd=root, input=t, capture_output=True, check=True).stdout
D = b"diff --git a/src/total.py b/src/total.py\n--- a/src/total.py\n+++ b/src/total.py\n@@ -1 +1 @@\n-%s\n+%s\n"
h = b"0123456789ABCDEF0123456789abcdef01234567"
odd = {"plain": D % (b"a", b"b"), "upper oid before": b"commit " + h + b"\n\n" + D % (b"a", b"c"), "bare upper": h + b" words\n" + D % (b"a", b"d"),
 "upper at end": D % (b"a", b"d2") + b"From " + h.upper() + b" x\n", "no newline": D[:-1] % (b"a", b"e"), "no eof mark": D % (b"a", b"f") + b"\\ No newline at end of file\n",
 "crlf": (D % (b"a", b"g")).replace(b"\n", b"\r\n"), "nul": D % (b"a\0", b"h"), "empty": b"", "words": b"hello\n", "short hunk": (D % (b"a", b"i")).replace(b"-1 +1", b"-1,40 +1,40"),
 "lower": b"From " + h.lower() + b"\n" + D % (b"a", b"j"), "cr-oid": b"x\r" + h.lower() + b"\n" + D % (b"a", b"k"), "bin": b"diff --git a/x b/x\nGIT binary patch\nliteral 3\nKcmZ=a0RR\n\n", "longmark": D % (b"a", b"l") + b"\\ Kein Zeilenumbruch am Dateiende.\n", "mode": b"diff --git a/x b/x\nold mode 100644\nnew mode 100755\n"}
alone = {}
for k, v in odd.items(): w = ask(with_headers(v)).decode().split(); alone[k] = w[0] if w else ""
P._known.clear()
try:
    together = dict(zip(odd, P.patch_ids([*odd.values()], ask)))
    for k in odd:
        if alone[k] != together[k]: print("DIFFERS", k, alone[k][:8], together[k][:8])
    print("compared", len(odd))
except Exception as e: print("EXC", repr(e))
for k, v in odd.items():
    P._known.clear()
    try:
        got = P.patch_ids([odd["plain"], v], ask)[1]
        if got != alone[k]: print("  pair differs", k, got[:8], alone[k][:8])
    except Exception as e: print("  pair", k, repr(e)[:100])
