import os,sys,resource,time,shutil,signal,collections
from pathlib import Path
from unittest.mock import patch
from benchmarks.fleet.made_up import attempts_at, context_of
from expctl.flow.fleet.landing import land, land_together
n=int(sys.argv[1]); folder=Path(sys.argv[2]); sizes=[int(x) for x in sys.argv[3].split(",")]
base=Path(f"/tmp/sim/base{n}")
shutil.rmtree(folder, ignore_errors=True); shutil.copytree(base, folder, symlinks=True)
home=folder/"home"; home.mkdir(exist_ok=True)
inc=collections.Counter(); own=collections.Counter(); total=0; on=False
def h(sig,fr):
    global total
    if not on: return
    total+=1; seen=set(); first=True
    while fr:
        k=(fr.f_code.co_filename.replace("WORK/s55-head/","").split("site-packages/")[-1],fr.f_code.co_name)
        if first: own[k]+=1; first=False
        if k not in seen: inc[k]+=1; seen.add(k)
        fr=fr.f_back
def cpu():
    u=[resource.getrusage(w) for w in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return [x.ru_utime+x.ru_stime for x in u]
with patch.dict(os.environ, {"HOME": str(home), "EXPCTL_LOCK_DIR": str(home)}):
    attempts=attempts_at(folder/"repository")
    context=context_of(folder/"repository")
    land(context, attempts.pop(0))
    signal.signal(signal.SIGPROF,h); signal.setitimer(signal.ITIMER_PROF,.001,.001)
    for size in sizes:
        batch=[attempts.pop(0) for _ in range(size)]
        a=cpu(); t=time.perf_counter(); on=True
        land_together(context,batch); on=False
        b=cpu()
        print(size, "self %.0f children %.0f ms wall %.0f"%(1000*(b[0]-a[0]),1000*(b[1]-a[1]),1000*(time.perf_counter()-t)), flush=True)
    signal.setitimer(signal.ITIMER_PROF,0)
print("samples",total)
for k,c in inc.most_common(90): print(f"{100*c/total:5.1f}% {k[0]}:{k[1]}  own {100*own[k]/total:.1f}")
