# effect of a busy card 1 on a product on card 0: paired, alternating
import subprocess, sys, time, statistics as st, torch, os, json
burn = '''
import torch,time,sys
d=torch.device("cuda:%d"); a=torch.randn(8192,8192,device=d,dtype=torch.float16); b=torch.randn(8192,8192,device=d,dtype=torch.float16)
print("on",flush=True)
t=time.time()
while time.time()-t<float(sys.argv[1]):
    for _ in range(20): a@b
    torch.cuda.synchronize(d)
''' % 1
d=torch.device("cuda:0"); out={}
for n in (4096, 8192):
    g=torch.Generator(device=d).manual_seed(1)
    a=torch.randn(n,n,device=d,dtype=torch.float16,generator=g); b=torch.randn(n,n,device=d,dtype=torch.float16,generator=g)
    def launch(reps):
        for _ in range(5): a@b
        e=[(torch.cuda.Event(True),torch.cuda.Event(True)) for _ in range(reps)]
        for s,f in e:
            s.record(); a@b; f.record()
        torch.cuda.synchronize(d)
        return st.median(s.elapsed_time(f) for s,f in e)
    t=time.time()
    while time.time()-t<3: launch(20)
    rows=[]
    for r in range(6):
        off=[launch(40) for _ in range(5)]
        p=subprocess.Popen([sys.executable,"-c",burn,"60"],stdout=subprocess.PIPE,text=True); p.stdout.readline(); time.sleep(.7)
        on=[launch(40) for _ in range(5)]
        p.kill(); p.wait(); time.sleep(.5)
        rows.append((st.median(off),st.median(on),st.stdev(off)/st.mean(off),st.stdev(on)/st.mean(on)))
    diff=[100*(o-f)/f for f,o,_,_ in rows]
    out[n]=dict(effect=st.mean(diff),se=st.stdev(diff)/len(diff)**.5,sd_off=100*st.mean(r[2] for r in rows),sd_on=100*st.mean(r[3] for r in rows),rows=rows)
    print(n,{k:v for k,v in out[n].items() if k!="rows"},flush=True)
json.dump(out,open(os.environ["OUT"]+"/neighbour.json","w"))
