"""getll.py: IR of a repeat and of what it repeats, before and after, in several views."""
import sys, shutil, tempfile
from pathlib import Path
sys.path.insert(0,'/tmp/w/dev')
from expctl.adapters.rules import compiled_versions as c
from expctl.domain.rules.meaning import *
from expctl import wiring
from tests.rules_corpus.rejected import test_rejected as R
OUT=Path('/tmp/w/ll'); OUT.mkdir(exist_ok=True)
now={}
orig=c.CompiledVersions._fails
def fails(self, command, target, tree, out, *a):
    r=orig(self,command,target,tree,out,*a)
    if c.READER in command: shutil.copy(out/'listing', OUT/now['name'])
    return r
c.CompiledVersions._fails=fails
c.CompiledVersions._compile.__defaults__
root=Path(tempfile.mkdtemp(dir='/tmp/w'))
book,head=R.book(root,set())
m=book.meanings(head)
import tarfile,io,lzma
tar=tarfile.open(R.FOLDER/'patches.tar.xz'); 
def patch(n):
    for mem in tar.getmembers():
        if Path(mem.name).stem==n: return tar.extractfile(mem).read()
    raise KeyError(n)
old=book.rejected_patch(head,'P25')
for view in (View.MEANING, View.PLAIN):
    for name,p in (('base',b''),('P25',old),*[(n,patch(n)) for n in sys.argv[1:]]):
        now['name']=f'{name}.{view}.ll'
        got=m.compiled([Wanted(Version(head,p),'cpu',view,True)])[0]
        print(name,view,got and dict(list(got.functions.items())[:3]), got and got.fault[:100])
