# card 0: few rows against cuBLAS at base, with P64, P65 and both; calibrate long-lived; tables anew for few rows
export PYTHONUNBUFFERED=1; cd /tmp/repo
for t in base p64 p65 both; do git worktree add -q -f --detach /tmp/t.$t $(cat /tmp/base); (cd /tmp/t.$t; case $t in p64|both) git apply experiments/P64/change.patch;; esac; case $t in p65|both) git apply experiments/P65/change.patch;; esac
nvcc -gencode=arch=compute_90a,code=sm_90a -O3 -std=c++17 -shared -Xcompiler -fPIC kernel/hip/host_cuda.cu -o /tmp/$t.so -lcuda 2>&1 | grep -v warning | head -3) & done; wait
for t in base p64 p65 both; do echo "-- $t"; (cd /tmp/t.$t; PYTHONPATH=. EXPCTL_KERNEL_LIBRARY=/tmp/$t.so timeout 60 python3 /tmp/sm/rows.py 32x8192x8192,64x8192x8192,128x8192x8192,256x8192x8192,128x12288x2048,256x12288x2048 2>&1 | tail -8); done | tee /tmp/out/rows.txt
LONG=1 bash /tmp/sm/calibrate.sh
cd /tmp; git clone -q /tmp/repo /tmp/tn; cd /tmp/tn; timeout -s INT 500 expctl tune --target sm_90 --shapes 32x8192x8192,64x8192x8192,128x8192x8192,256x8192x8192,32x12288x2048,128x12288x2048,256x12288x2048; git bundle create -q /tmp/out/tune.bundle $(cat /tmp/base)..HEAD
