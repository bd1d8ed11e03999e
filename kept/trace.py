import sys, time, threading
sys.argv=["expctl","rules","check",sys.argv[1]]
from expctl.adapters.rules import compiled_versions as c
T0=time.time()
orig=c.CompiledVersions._compile
def comp(self, wanted):
    s=time.time(); r=orig(self,wanted); print(f"{s-T0:6.2f} {time.time()-s:6.2f} {wanted.target} {wanted.view} alone={wanted.alone} {len(wanted.version.patch)} {wanted.version.commit[:6]} fault={r.fault[:30]!r}",file=sys.stderr); return r
c.CompiledVersions._compile=comp
from expctl.adapters.rules import workplaces as w
of=w.Workplaces.fails
def fails(self, command, tree, out, *a, timeout_s):
    s=time.time(); r=of(self, command, tree, out, *a, timeout_s=timeout_s); 
    k="read" if "expctl.inspection.readers.compiled_functions" in command else ("E" if "-E" in command else "un" if "-disable-llvm-passes" in command else "ir" if "ir" in command else "compile")
    print(f"       {s-T0:6.2f} {time.time()-s:6.2f} {k} {str(command[-3:])[:90]}",file=sys.stderr); return r
w.Workplaces.fails=fails
from expctl.cli.entry import main
try: main()
finally: print(time.time()-T0,file=sys.stderr)
