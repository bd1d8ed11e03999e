import sys, statistics, torch, json
sys.path.insert(0, "."); sys.argv=sys.argv
from kernel.rivals.formulations import formulations, LIBRARY_PRODUCT
from kernel.rivals.operands import draw, Size, work_dtype, relative_error
from kernel.rivals import timing
from kernel.operator.launches import config_on
d=torch.device("cuda")
art=sys.argv[2] if len(sys.argv)>2 else None
parse=Size.parse
for text in sys.argv[1].split(","):
    size=parse(text); sets=draw(size,d,7); made={}
    for f in formulations():
        if f.name in ("this kernel",LIBRARY_PRODUCT):
            p=f.make(size,d,work_dtype(d)); got=p(sets[0])
            if f.is_whole: err=relative_error(got,sets[0])
            made[f.name]=timing.GraphTurn(p,sets)
    t=timing.rounds(made,21,7); u,l=(statistics.median(t[n])/1e3 for n in made)
    print(f"{text}: sets {len(sets)} ours {u:.2f} us, library {l:.2f} us, ratio {u/l:.3f}, err {err:.1e}, config {config_on(d,size.m,size.n,size.k)}",flush=True)
