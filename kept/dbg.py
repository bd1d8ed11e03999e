import sys
from expctl.flow.rules import resemblance as R
orig=R.resemblance
import expctl.flow.rules.by_meaning as B
def show(meanings, rejected, candidate, targets):
    out=orig(meanings, rejected, candidate, targets)
    if out.level is not None:
        print("SAME", out.level, out.targets, rejected.after.commit[:8], len(rejected.versions), file=sys.stderr)
        from expctl.domain.rules.meaning import View
        for t in targets:
            for alone in (False,True):
                try: f=R._both(meanings,rejected,candidate,t,View.MEANING,alone=alone)
                except Exception as e: print(t,alone,e,file=sys.stderr); continue
                if f: print(t,alone,"old.fault",repr(f[0].after.fault)[:300],"| new", repr(f[1].after.fault)[:300], "before", repr(f[0].before.fault)[:80], len(f[0].after.functions), file=sys.stderr)
                else: print(t,alone,None,[ (c is not None and c.fault) for c in meanings.compiled(R.all_four(rejected,candidate,t,View.MEANING,alone=alone))], file=sys.stderr)
    return out
R.resemblance=show; B.resemblance=show
sys.argv=["expctl","rules","check",sys.argv[1],"--json"]
from expctl.cli.app import main
main()
