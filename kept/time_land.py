import sys,tempfile,time,collections,resource,importlib
from pathlib import Path
sys.path.insert(0,'.')
from benchmarks.fleet import landing as L
n=int(sys.argv[1]); tot=collections.Counter(); cnt=collections.Counter(); on=[False]
def cpu(): 
    return sum(r.ru_utime+r.ru_stime for r in map(resource.getrusage,(resource.RUSAGE_SELF,resource.RUSAGE_CHILDREN)))
def wrap(mod,path):
    m=importlib.import_module(mod); o=m; *front,last=path.split('.')
    for x in front: o=getattr(o,x)
    f=getattr(o,last)
    def g(*a,**k):
        s=cpu()
        try: return f(*a,**k)
        finally:
            if on[0]: tot[path]+=cpu()-s; cnt[path]+=1
    setattr(o,last,g)
E_='expctl.'
for mod,path in [('expctl.flow.run.settle','ledger_with'),('expctl.flow.run.settle','ledger_file'),('expctl.views.ledger.document','render'),('expctl.adapters.git.publication','Publication.publish'),('expctl.adapters.git.publication','Publication._merge'),('expctl.adapters.git.publication','Publication._complete'),('expctl.adapters.git.workspace','Workspace.commit_files'),('expctl.adapters.git.index_bytes','_has_conflicts'),('expctl.adapters.index.record_index','RecordIndex.ask'),('expctl.adapters.index.record_index','RecordIndex.suppose'),('expctl.adapters.index.ledger_queries','each_made'),('expctl.flow.repository.ledger_inputs','ledger_from'),('expctl.flow.repository.ledger_inputs','read_queue'),('expctl.views.ledger.rows','imported_rows'),('expctl.views.ledger.rows','measured_rows'),('expctl.adapters.git.workspace','Workspace.dirty'),('expctl.flow.run.open_run','resume'),('expctl.flow.fleet.landing','_check_candidate'),('expctl.adapters.index.record_index','RecordIndex._store')]:
    try: wrap(mod,path)
    except Exception as e: print('no',mod,path,e)
orig=L.land
k=[0]
def land(*a):
    on[0]=k[0]>0; k[0]+=1; s=cpu()
    try: return orig(*a)
    finally:
        if on[0]: tot['land']+=cpu()-s; cnt['land']+=1
L.land=land
with tempfile.TemporaryDirectory(dir='/tmp') as d:
    print(L.landing_cost(Path(d),history=n,count=10,together=(1,)))
for k_,v in tot.most_common(): print(f"{1000*v/cnt['land']:8.1f} ms a landing, {cnt[k_]/cnt['land']:.1f} calls  {k_}")
