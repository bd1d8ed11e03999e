export PYTHONUNBUFFERED=1; mkdir -p /tmp/out; cd /tmp/repo; H=$(git rev-parse HEAD)
rm -rf /tmp/t.*; for t in base head xy; do git worktree add -q -f --detach /tmp/t.$t $([ $t = base ] && cat /tmp/base || echo $H); done
(cd /tmp/t.xy; for f in /tmp/sm/p/XY.?.patch; do git apply $f 2>/dev/null && { echo "xy is $f"; break; }; done)
for t in base head xy; do (cd /tmp/t.$t; nvcc -gencode=arch=compute_90a,code=sm_90a -O3 -std=c++17 -shared -Xcompiler -fPIC kernel/hip/host_cuda.cu -o /tmp/$t.so -lcuda 2>&1 | grep -v warning | head -5) & done; wait; ls -la /tmp/*.so
for r in 1 2; do for t in base head xy; do echo "-- $t"; (cd /tmp/t.$t; PYTHONPATH=. EXPCTL_KERNEL_LIBRARY=/tmp/$t.so timeout 60 python3 /tmp/sm/rows.py 16x8192x8192,32x12288x2048,64x8192x8192,128x8192x8192,256x8192x8192,4096 2>&1 | tail -8); done; done | tee /tmp/out/rows.txt
for t in base head xy; do git worktree remove --force /tmp/t.$t; done
nvidia-smi --query-gpu=name,clocks.sm,power.draw --format=csv,noheader
