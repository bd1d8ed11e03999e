# few rows against cuBLAS: today's kernel, with P62, with P63, with both (rows.py prints ratios)
export PYTHONUNBUFFERED=1; mkdir -p /tmp/out; cd /tmp/repo; H=$(cat /tmp/base)
rm -rf /tmp/t.*; for t in base p62 p63 both; do git worktree add -q -f --detach /tmp/t.$t $H; done
for t in p62 both; do git -C /tmp/t.$t apply experiments/P62/change.patch || echo "$t: P62 doesn't fit"; done
for t in p63 both; do sed -i 's/int cluster = repeat_n;/int cluster = tile_m >= 64 ? 2 : 1;/' /tmp/t.$t/kernel/hip/sm_90/ring_memory.h; done   # P63
for t in base p62 p63 both; do (cd /tmp/t.$t; nvcc -gencode=arch=compute_90a,code=sm_90a -O3 -std=c++17 -shared -Xcompiler -fPIC kernel/hip/host_cuda.cu -o /tmp/$t.so -lcuda 2>&1 | grep -v warning | head -5) & done; wait
for t in base p62 p63 both; do echo "-- $t"; (cd /tmp/t.$t; PYTHONPATH=. EXPCTL_KERNEL_LIBRARY=/tmp/$t.so timeout 60 python3 /tmp/sm/rows.py 16x8192x8192,32x8192x8192,64x8192x8192,128x8192x8192,256x8192x8192,32x12288x2048,128x12288x2048,256x12288x2048 2>&1 | tail -10); done | tee /tmp/out/rows.txt
