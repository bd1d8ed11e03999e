import csv,random,collections,sys
sys.path.insert(0,'/tmp/w/dev')
from expctl.profiles.assemble.classify import classify
rows=[l.rstrip('\n').split('\t') for l in open('/tmp/w/class9.tsv')]
R=[(n,c.lower(),s.lower(),float(t),src,classify(n).value.lower()) for n,c,s,t,src in rows]
print(sorted({r[5] for r in R}))
idx=list(range(len(R)));random.Random(1).shuffle(idx);A=set(idx[:len(R)//2])
def fig(rs):
    st=lambda r:r[5]==r[1]; le=lambda r:r[5]==r[1] or (r[2] and r[5]==r[2])
    o=[]
    for f in (st,le):
        k=sum(1 for r in rs if f(r));by=collections.defaultdict(lambda:[0,0])
        for r in rs: by[r[4]][1]+=r[3]; by[r[4]][0]+=r[3] if f(r) else 0
        m=sum(a/b for a,b in by.values())/len(by); p=sum(a for a,b in by.values())/sum(b for a,b in by.values())
        o.append(f"{k}/{len(rs)} {100*k/len(rs):.1f}% time mean {100*m:.1f} pooled {100*p:.1f}")
    return ' | '.join(o)
a=[R[i] for i in sorted(A)];b=[r for i,r in enumerate(R) if i not in A]
print('all',fig(R));print('A  ',fig(a));print('B  ',fig(b))
known=[r for r in R if r[1]!='other'];print('label not other',fig(known));print('label other    ',fig([r for r in R if r[1]=='other']))
# hand-written / HPC flag by source
H=('DSMC','openmm','timemachine','tps','Nek','bml','BabelStream','CuPy','Jacobi','meshmode','tike','stumpy','xgboost','quda','SPH','gunrock','ozaki','kokkos','Rodinia','prefixSum','finite diff','matmul course','mojo','ECE408','freshman','ParEval')
h=[r for r in R if any(x in r[4] for x in H)];print('HPC/hand',len(h),fig(h));print('rest',fig([r for r in R if r not in h]))
w=lambda rs:[r for r in rs if r[5]!=r[1]]
with open('/tmp/w/class9-wrongA.tsv','w') as f:
    for r in w(a): f.write(f"{r[0]}\t{r[1]}{('/'+r[2]) if r[2] else ''}\t{r[5]}\n")
with open('/tmp/w/class9-B.secret.tsv','w') as f:
    for r in w(b): f.write(f"{r[0]}\t{r[1]}{('/'+r[2]) if r[2] else ''}\n")
print('A wrong strict',len(w(a)),'B',len(w(b)))
for r in w(a): print(r[1],r[2] or '-','->',r[5],r[3],r[0][:95])
