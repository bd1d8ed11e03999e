import resource,collections,sys
from expctl.adapters.git import plumbing
K=[c for c in vars(plumbing).values() if isinstance(c,type) and 'call' in vars(c)]
acc=collections.defaultdict(list)
def wrap(cls):
    o=cls.call
    def call(self,arguments,*a,**k):
        b=resource.getrusage(resource.RUSAGE_CHILDREN); r=o(self,arguments,*a,**k); e=resource.getrusage(resource.RUSAGE_CHILDREN)
        acc[" ".join(map(str,arguments))[:110]].append(1000*(e.ru_utime+e.ru_stime-b.ru_utime-b.ru_stime)); return r
    cls.call=call
for c in K: wrap(c)
sys.argv=["x","10000","/tmp/sim/r3","8,8,8,8"]
src=open('/tmp/sim/samp.py').read().replace("        batch=","        acc.clear(); batch=").replace("        b=cpu()\n","        b=cpu()\n        if size: [print('   %6.1f x%d %s'%(sum(v),len(v),k)) for k,v in sorted(acc.items(),key=lambda i:-sum(i[1]))]\n")
exec(compile(src,"samp","exec"))
