# card 0: the closing re-measurement of the merged rows; long-lived calibrate; few rows against cuBLAS
export PYTHONUNBUFFERED=1; cd /tmp/repo; git branch -f alone; git fetch -q /tmp/r1 HEAD:other
echo "-- merge"; M="Merge the verdict of P65, measured at the same time on the other card"; git merge -q --no-edit -m "$M" other || { git checkout --ours -- ledger.md; git add -A; git commit -q -m "$M"; }
expctl ledger | tail -2; git status --short | head -5; git diff --quiet HEAD || git commit -qam "ledger: both verdicts"
t=$SECONDS; timeout -s INT 300 expctl audit --target sm_90-rows --record --wait 30; echo "audit exit $? after $((SECONDS-t)) s"
bash /tmp/sm/calibrate.sh
git worktree add -q -f --detach /tmp/t.now HEAD; cd /tmp/t.now; nvcc -gencode=arch=compute_90a,code=sm_90a -O3 -std=c++17 -shared -Xcompiler -fPIC kernel/hip/host_cuda.cu -o /tmp/now.so -lcuda 2>&1 | grep -v warning | head -3
for s in 8192x8192 12288x2048; do PYTHONPATH=. EXPCTL_KERNEL_LIBRARY=/tmp/now.so timeout 90 python3 /tmp/sm/rows.py 16x$s,32x$s,64x$s,128x$s,256x$s 2>&1 | tail -5; done | tee /tmp/out/rows.txt
