import sys
from pathlib import Path
from expctl.inspection.readers.compiled_functions import read_functions as r
L=Path('/tmp/w/ll')
base={v:r(v,(L/f'base.{v}.ll').read_text())[0] for v in ('meaning','plain')}
def deeds(f,v): return sorted((h for n,h in f.items() if base[v].get(n)!=h))
for n in sys.argv[1:]:
    res=[]
    for v in ('meaning','plain'):
        a=r(v,(L/f'P25.{v}.ll').read_text())[0]; b=r(v,(L/f'{n}.{v}.ll').read_text())[0]
        res.append((v, deeds(a,v)==deeds(b,v), len(deeds(a,v)), len(deeds(b,v)), [x for x in a if a[x]!=b.get(x)][:2]))
    print(n,res)
