import sys,tempfile,time
from pathlib import Path
from tests.rules_corpus.strangers.corpus import *
names=sys.argv[1:]
with tempfile.TemporaryDirectory() as d, tempfile.TemporaryDirectory() as e:
    rec=Corpus.recorded(Path(e)); new=Corpus(Path(d),unpacked("patches.tar.xz"))
    for pair in own_pairs():
        if any(pair.name.startswith(n) for n in names):
            s=time.time(); a=rec.answer(pair); b=new.answer(pair)
            print(pair.name,pair.kind,pair.targets,'rec',repr(a.level),a.percent,'new',repr(b.level),b.percent,'%.1f'%(time.time()-s),flush=True)
