import sys
from pathlib import Path
from expctl.inspection.readers import llvm_meaning as M
from expctl.inspection.readers.llvm_text import read_module
L=Path('/tmp/w/ll')
def run(f, only):
    text=(L/f).read_text(); mod=read_module(text); out={}
    orig=M.FunctionReader.read
    def read(self):
        r=orig(self)
        blocks=M.in_one_form(self.function.blocks)
        phis=[(b,e) for b in blocks for e in b.body if e.text.startswith("phi ")]
        out[self.function.name]=(self, [(self.order[b.label],e,self.values[e.result]) for b,e in phis if e.result not in self.counted], [self.known[b.label].made for b in blocks])
        return r
    M.FunctionReader.read=read
    M.meanings(mod, M.pure_functions(text)); M.FunctionReader.read=orig
    return out
a=run(sys.argv[1],''); b=run(sys.argv[2],'')
for n in a:
    if n not in b: print('only a',n); continue
    _,pa,ma=a[n]; _,pb,mb=b[n]
    if ma!=mb: print(n,'effects differ', len(ma),len(mb), [i for i,(x,y) in enumerate(zip(ma,mb)) if x!=y][:10])
    sa={v for *_,v in pa}; sb={v for *_,v in pb}
    if sa!=sb:
        print(n,'rest differs', len(sa),len(sb), len(sa-sb), len(sb-sa))
        for o,e,v in pa:
            if v not in sb: print('  a',o,e.result,e.text[:150],v)
        for o,e,v in pb:
            if v not in sa: print('  b',o,e.result,e.text[:150],v)
