import subprocess,time,statistics,sys,os,resource
env={k:v for k,v in os.environ.items() if k!='PYTHONPATH'}
cmds={'3.11':['/work/main/.venv/bin/expctl'],'3.13':['/tmp/w/v313/bin/expctl']}
xs={k:[] for k in cmds}; cs={k:[] for k in cmds}
for i in range(12):
    for k,c in cmds.items():
        r0=resource.getrusage(resource.RUSAGE_CHILDREN); s=time.perf_counter()
        subprocess.run([*c,'rules','check','/tmp/w/doc.patch'],env=env,stdout=subprocess.DEVNULL)
        xs[k].append(time.perf_counter()-s); r=resource.getrusage(resource.RUSAGE_CHILDREN); cs[k].append(r.ru_utime+r.ru_stime-r0.ru_utime-r0.ru_stime)
for k in cmds: print(k, 'wall min %.3f med %.3f cpu min %.3f med %.3f'%(min(xs[k]),statistics.median(xs[k]),min(cs[k]),statistics.median(cs[k])))
