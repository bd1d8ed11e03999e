"""Each file with kernels: expctl check proposes; up to three kernels launched as proposed. Counts by outcome."""
import json, re, subprocess, sys, pathlib, collections, concurrent.futures, time
EX=sys.argv[1]   # the command expctl; run beside check-outs of the two repositories
files=sorted(p for r in ('rocm-examples','HIP-Examples') for p in pathlib.Path(r).rglob('*') if p.suffix in ('.hip','.cpp') and p.is_file() and '__global__' in p.read_text(errors='replace'))
def run(*a,t=240):
    try: r=subprocess.run([EX,'check',*a],capture_output=True,text=True,timeout=t); return r.returncode,r.stdout,r.stderr
    except subprocess.TimeoutExpired: return 99,'',''
def one(p):
    inc=['-I',str(p.parent)]
    for up in list(p.parents)[:4]:
        for n in ('Common','common','include'):
            if (up/n).is_dir(): inc+=['-I',str(up/n)]
    extra=[]
    rc,out,err=run(str(p),*inc)
    if rc and 'does-not-compile' in err:
        rc2,out2,err2=run(str(p),*inc,'--std=c++20')
        if not rc2: rc,out,err,extra=rc2,out2,err2,['--std=c++20']
    if rc: return str(p),None,err
    blocks=re.split(r'(?m)^# (?=\S.*\(.*\)$)',out)
    kernels=re.findall(r'(?m)^#   (\S.*)$',out)
    res=[]
    for k in kernels[:3]:
        rc,o,e=run(str(p),*inc,*extra,'--kernel',k)
        if rc: res.append((k,rc,e)); continue
        case=pathlib.Path('cases')/(re.sub(r'\W+','_',str(p)+k)[-120:]+'.yaml'); case.parent.mkdir(exist_ok=True); case.write_text(o)
        t=time.time(); rc,o,e=run(str(p),*inc,*extra,'--kernel',k,'--launch',str(case))
        res.append((k,rc,(e or o)[-300:],round(time.time()-t,1)))
    return str(p),kernels,res
done=[]
with concurrent.futures.ThreadPoolExecutor(2) as ex:
    for r in ex.map(one,files):
        done.append(r); print(json.dumps(r),flush=True)
comp=[d for d in done if d[1] is not None]
print(len(files),'files',len(comp),'compile')
ks=[x for d in comp for x in d[2]]
print('kernels',len(ks),collections.Counter(x[1] for x in ks))
