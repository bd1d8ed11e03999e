"""Programs of a GPU in the walls of a launch: nvcc, torch, ncu, and what /dev shows there."""
import os, sys, time, tempfile, subprocess
from pathlib import Path
from expctl.adapters.child.contained_process import MARK, Child, ChildLimits, Launch
from expctl.launcher.capabilities import detect_capabilities
print(detect_capabilities().words())
F = Path(tempfile.mkdtemp(prefix="gdev."))
S = F / "scratch"; S.mkdir()
(F / "a.cu").write_text('#include <cstdio>\n__global__ void add(float*x){x[threadIdx.x]+=1;}\nint main(){float*x;cudaMalloc(&x,4096);add<<<1,256>>>(x);printf("cuda %d\\n",(int)cudaDeviceSynchronize());}\n')
torch = "import torch,time;a=torch.randn(4096,4096,device='cuda',dtype=torch.half);s=(a@a).float().abs().mean().item();f=torch.compile(lambda x:(x*2+1).relu());print('torch',s,f(a).float().mean().item(),torch.cuda.get_device_name())"
def go(name, argv, counters=False):
    log = F / (name + ".log"); t = time.time()
    env = {**{k: v for k, v in os.environ.items() if k in ("PATH", "LD_LIBRARY_PATH", "CUDA_VISIBLE_DEVICES", "CUDA_HOME")}, MARK: "gdev", "HOME": str(S), "TMPDIR": str(S), "TORCHINDUCTOR_CACHE_DIR": str(S), "TRITON_CACHE_DIR": str(S)}
    with Child(Launch(argv=argv, cwd=F, environment=env, log=log, limits=ChildLimits(scratch=(S,), counters=counters))) as child:
        child.close_input(); status = child.wait(time.monotonic() + 100)
    print(f"== {name}: status {status} after {time.time()-t:.1f} s\n" + log.read_text(errors="replace")[-700:], flush=True)
go("ls", ["ls", "-l", "/dev", "/dev/dri", "/dev/nvidia-caps"])
go("nvcc", ["nvcc", "-arch=sm_90", str(F / "a.cu"), "-o", str(S / "a")])
go("cuda", [str(S / "a")])
go("torch", [sys.executable, "-c", torch])
go("ncu", ["ncu", "--clock-control", "none", "--metrics", "sm__cycles_elapsed.max", str(S / "a")], counters=True)
go("smi", ["nvidia-smi", "-L"])
