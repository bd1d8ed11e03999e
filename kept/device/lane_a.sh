# one card (or card 0): what is queued for few rows, the closing re-measurement if it was kept, few rows against cuBLAS; then the example
while ! [ -f /tmp/zig.done ]; do sleep 1; done
export PYTHONUNBUFFERED=1; cd /tmp/repo
for p in ${ROWS:-P67}; do t=$SECONDS; timeout -s INT 500 expctl run $p --target sm_90-rows > /tmp/out/$p.log 2>&1; echo "=== $p exit $? after $((SECONDS-t)) s"; grep -vE '^ *round' /tmp/out/$p.log | tail -16; done
t=$SECONDS; timeout -s INT 300 expctl audit --target sm_90-rows --record --wait 30; echo "audit exit $? after $((SECONDS-t)) s"
git worktree add -q -f --detach /tmp/t.now HEAD; cd /tmp/t.now; nvcc -gencode=arch=compute_90a,code=sm_90a -O3 -std=c++17 -shared -Xcompiler -fPIC kernel/hip/host_cuda.cu -o /tmp/now.so -lcuda 2>&1 | grep -v warning | head -3
for s in 8192x8192 12288x2048; do PYTHONPATH=. EXPCTL_KERNEL_LIBRARY=/tmp/now.so timeout 90 python3 /tmp/sm/rows.py 16x$s,32x$s,64x$s,128x$s,256x$s 2>&1 | tail -5; done | tee /tmp/out/rows.txt
