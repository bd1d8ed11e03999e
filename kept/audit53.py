import json,subprocess,sys
from pathlib import Path
from collections import Counter
EX=sys.argv[1]; out=[]; rows=0; files=0; withrows=0; c=Counter()
for folder in sys.argv[2:]:
    for f in sorted(Path(folder).iterdir()):
        if f.suffix not in (".md",".tsv",".csv") or ".labels." in f.name or ".again." in f.name or ".slips." in f.name or f.name in ("sources.tsv","judged.tsv"): continue
        files+=1
        r=subprocess.run([EX,"import",str(f),"--dry-run","--json","--target","cpu","--renumber"],cwd="/tmp/irp55",capture_output=True,text=True)
        if not r.stdout.startswith("{"):
            if r.returncode not in (0,1,2): print("CRASH",f,r.stderr[-300:])
            c[r.stderr.split("]")[0][-30:]]+=1; continue
        p=json.loads(r.stdout); n=len(p["reading"]["rows"]); rows+=n; withrows+=n>0
        for m in p["remarks"]: out.append((f.name,m))
print(files,"files",withrows,"with rows",rows,"rows",len(out),"remarks",c)
for n,m in out: print(n,m["line"],m["flaw"],"|",m["rows"],"|",m["text"][:300])
