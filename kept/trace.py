import sys, time, threading
sys.argv=["expctl","rules","check",sys.argv[1]]
from expctl.adapters.rules import compiled_versions as c
T0=time.time()
orig=c.CompiledVersions._compile
def comp(self, wanted):
    s=time.time(); r=orig(self,wanted); print(f"{s-T0:6.2f} {time.time()-s:6.2f} {wanted.target} {wanted.view} alone={wanted.alone} {len(wanted.version.patch)} {wanted.version.commit[:6]} fault={r.fault[:30]!r}",file=sys.stderr); return r
c.CompiledVersions._compile=comp
of=c.CompiledVersions._fails
def fails(self, command, target, tree, out, *a):
    s=time.time(); r=of(self,command,target,tree,out,*a); 
    k="read" if c.READER in command else ("E" if "-E" in command else "compile")
    print(f"       {s-T0:6.2f} {time.time()-s:6.2f} {k} {target}",file=sys.stderr); return r
c.CompiledVersions._fails=fails
from expctl.cli.entry import main
try: main()
finally: print(time.time()-T0,file=sys.stderr)
