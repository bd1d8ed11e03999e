import subprocess,re,os
from pathlib import Path
seen={l.strip().lower() for l in open('SETS/seen-repos2.txt')}
out=Path('SETS/set9'); out.mkdir(exist_ok=True)
pat=re.compile(r'(experiment|results|perf.?log|ledger|optimi[sz]|journal|attempt|tried|iteration|trials?|bench.*log|worklog|findings|autoresearch)[^/]*\.(md|tsv|csv)$',re.I)
words=re.compile(rb'\b(keep|kept|discard|discarded|revert|reverted|reject|rejected|crash|accepted|adopted|no gain|abandoned|dropped)\b',re.I)
import hashlib
n=0; src=[]; repos=0; texts=set()
for q in (1,2,3,'5a',7,8):
    for f in Path(f'SETS/set{q}').iterdir():
        if f.is_file(): texts.add(f.read_bytes()[:300])
used={tuple(l.split('\t')[1:3]) for q in (1,2,3,'5a',7,8) for l in open(f'SETS/set{q}/sources.tsv') if l.count('\t')>1}
for d in sorted(Path('SNAPSHOTS').iterdir()):
    if not d.is_dir() or '+' not in d.name: continue
    name=d.name.replace('+','/',1)
    gits=[d] if (d/'HEAD').exists() else [p.parent for p in d.glob('*/HEAD')]+[p.parent for p in d.glob('*/*/HEAD')]
    if not gits: continue
    g=str(gits[0])
    try:
        log=subprocess.run(['git','-C',g,'log','--all','--diff-filter=AM','--name-only','--format=@%H','-n','1500','--','*.tsv','*.csv','*.md','*.TSV','*.MD'],capture_output=True,text=True,errors='replace',timeout=40).stdout
    except subprocess.TimeoutExpired: continue
    at={}; h=''
    for l in log.splitlines():
        if l.startswith('@'): h=l[1:]
        elif l and pat.search(l) and 'node_modules' not in l: at.setdefault(l,h)
    cand=[(0,(p,c)) for p,c in at.items()]
    got=[]
    for size,(path,commit) in cand[:80]:
        t=subprocess.run(['git','-C',g,'show',f'{commit}:{path}'],capture_output=True).stdout
        if not 600<len(t)<400000: continue
        lines=sum(bool(words.search(x)) for x in t.splitlines())
        if lines>=6 and t[:300] not in texts and (name,path) not in used: got.append((lines,path,t)); texts.add(t[:300])
    got.sort(reverse=True)
    for lines,path,t in got[:15]:
        n+=1; ext=path.rsplit('.',1)[1]
        f=out/f"{n:03}-{d.name.split('+')[1][:30].lower()}.{ext.lower()}"
        f.write_bytes(t); src.append(f"{f.name}\t{name}\t{path}\tHEAD")
    repos+=bool(got)
(out/'sources.tsv').write_text("\n".join(src)+"\n")
print(n,repos)
