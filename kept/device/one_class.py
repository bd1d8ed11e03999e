import sys
from random import Random
from tests.faults.fault_classes import CLASSES
from tests.faults.fault_lab import Lab, pinned
from tests.faults.trial import Trial
name, count, seed = sys.argv[1], int(sys.argv[2]), sys.argv[3]
faults=[c for c in CLASSES if c.name==name][0]
draw=Random(f"{seed} {faults.name}"); bad=0
with pinned(), Lab() as lab:
    for n in range(count):
        story=faults.play(Trial(lab,draw,n,count)); v=story.violations()
        if v:
            bad+=1; print("trial",n,v[:12],flush=True)
            for a in story.scene.attempts: print("   ", a.words, a.status, a.said[-1500:], flush=True)
            if bad>=3: break
print(bad,"of",n+1)
