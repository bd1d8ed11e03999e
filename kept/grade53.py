"""grade53.py FOLDER [--maps FILE]: labels against `expctl import --dry-run --json`. FILE.maps (one word a line) beside with --maps."""
import json, subprocess, sys, csv, os
from pathlib import Path
EX="WORK/s55-aud/.venv/bin/expctl"
folder=Path(sys.argv[1]); maps="--maps" in sys.argv; verbose="-v" in sys.argv
tot=dict(rows=0,sure=0,read=0,sread=0,wrong=0,extra=0,remarks=0)
for f in sorted(folder.iterdir()):
    lab=f.with_name(f.name+".labels.tsv")
    if not lab.exists(): continue
    words=[]
    m=f.with_name(f.name+".maps")
    if maps and m.exists():
        for w in m.read_text().splitlines():
            if w.strip(): words+=w.split(" ",1) if w.startswith("--unit ") else ["--map",w]
    ran=subprocess.run([EX,"import",str(f),"--dry-run","--json","--target","cpu","--renumber",*words],cwd="/tmp/irp55",capture_output=True,text=True)
    if not ran.stdout.startswith("{"):
        print(f.name,"NO PLAN",ran.stderr[:400]); plan={"reading":{"rows":[],"waiting":[],"proposals":[],"unread":[]},"remarks":[]}
    else: plan=json.loads(ran.stdout)
    rd=plan["reading"]; got={}
    for r in rd["rows"]: got[r["line"]]=[x["verdict"] for x in r["rulings"]]
    for r in rd.get("waiting",[]): got.setdefault(r["line"] if isinstance(r,dict) else int(r),["WAIT"])
    labels=[]
    for l in lab.read_text().splitlines():
        p=l.split("\t")
        if len(p)<3 or not p[0].strip().isdigit(): continue
        labels.append((int(p[0]),p[1].strip(),p[2].strip(),p[3] if len(p)>3 else ""))
    labels.sort()
    ag=f.with_name(f.name+".again.tsv"); again={}
    if ag.exists():
        for l in ag.read_text().splitlines():
            p=l.split("\t")
            if p[0].strip().isdigit(): again[int(p[0])]=int(p[1]) if len(p)>1 and p[1].strip().isdigit() else 0
    used=set(); rows=sure=read=sread=wrong=0; bad=[]; missed=[]
    multi={}
    for i,(ln,v,s,t) in enumerate(labels): multi.setdefault(ln,[]).append((v,s,t))
    lines=sorted(multi)
    for i,ln in enumerate(lines):
        nxt=lines[i+1] if i+1<len(lines) else 10**9
        at=[ln] if ln in got else [g for g in sorted(got) if ln-1<=g<nxt and g not in used and g-ln<=40][:1]
        if not at or got[at[0]]==['WAIT']: at=[g for g,to in again.items() if to==ln and g in got and got[g]!=['WAIT']][:1] or at
        vs=got[at[0]] if at else []
        if at: used.add(at[0])
        for v,s,t in multi[ln]:
            rows+=1; sure+=s=="sure"
            if v=="WAIT":
                # waiting or not read at all counts as understood (not a decision)
                ok = not vs or "WAIT" in vs
                if not ok: bad.append((ln,v,vs,s,t)); wrong+=1
                else: read+=1; sread+=s=="sure"
            elif not vs or vs==["WAIT"]: missed.append((ln,v,s,t))
            elif v in vs or (v=="INVALID" and "INVALID" in vs): read+=1; sread+=s=="sure"
            else:
                bad.append((ln,v,vs,s,t)); wrong+=s=="sure"
    extra=[(g,got[g]) for g in sorted(got) if g not in used and g not in again and got[g]!=["WAIT"]]
    rem=plan.get("remarks",[])
    print(f"{f.name:44} rows {rows:4} sure {sure:4} read {read:4} ({100*read/max(rows,1):.0f}%) wrong {wrong} extra {len(extra)} remarks {len(rem)} asked {len(rd.get('proposals',[]))}+{len(rd.get('unread',[]))}")
    if verbose:
        for b in bad: print("   WRONG",b)
        for e in extra[:12]: print("   EXTRA",e, f.read_text(errors='replace').splitlines()[e[0]-1][:100])
        for e in missed[:int(os.environ.get('N','8'))]: print("   missed",e, f.read_text(errors='replace').splitlines()[e[0]-1][:110])
        for r in rem: print("   remark",json.dumps(r)[:300])
    for k,v in dict(rows=rows,sure=sure,read=read,sread=sread,wrong=wrong,extra=len(extra),remarks=len(rem)).items(): tot[k]+=v
print(tot, f"understood {100*tot['read']/max(tot['rows'],1):.1f}% of all, {100*tot['sread']/max(tot['sure'],1):.1f}% of sure")
