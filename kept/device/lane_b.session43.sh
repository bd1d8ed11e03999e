export PYTHONUNBUFFERED=1 EXPCTL_LOCK_DIR=/tmp/lockb PATH=/usr/local/cuda/bin:$PATH; mkdir -p $EXPCTL_LOCK_DIR /tmp/out /tmp/san
nvidia-smi -L; step() { n=$1; shift; t=$SECONDS; "$@" 2>&1; echo "=== $n exit $? after $((SECONDS-t)) s, at $SECONDS s"; }
git clone -q /tmp/repo /tmp/tb; cd /tmp/tb
step build nvcc -gencode=arch=compute_90a,code=sm_90a -O3 -std=c++17 -shared -Xcompiler -fPIC kernel/hip/host_cuda.cu -o /tmp/tb.so -lcuda
export EXPCTL_KERNEL_LIBRARY=/tmp/tb.so PYTHONPATH=/tmp/tb
step large timeout 150 python3 -m benchmarks.operator.back_to_back --device cuda --sizes 8192,4096 --out /tmp/out/large.json
step rows timeout 200 python3 -m benchmarks.operator.back_to_back --device cuda --only "library product alone" --sizes 16x8192x8192,32x8192x8192,64x8192x8192,128x8192x8192,256x8192x8192,16x12288x2048,32x12288x2048,64x12288x2048,128x12288x2048,256x12288x2048 --out /tmp/out/rows.json
unset EXPCTL_KERNEL_LIBRARY PYTHONPATH
git clone -q /tmp/repo /tmp/op; cd /tmp/op; git config user.name a; git config user.email a@b; git am -q -3 /tmp/sm/op.patch 2>&1 | tail -2
PYTHONPATH=/tmp/op step operator timeout 200 python3 -m benchmarks.operator.measure --device cuda --out /tmp/out/operator.json
cd /tmp/tb; export PYTHONPATH=/tmp/tb; C=$(ls /usr/local/cuda*/bin/compute-sanitizer 2>/dev/null | head -1); echo "sanitizer: $C"; t=$SECONDS
for tool in memcheck racecheck synccheck initcheck; do (timeout 230 ${C:-compute-sanitizer} --tool $tool --target-processes all python3 kernel/harness/test_scaled_mm.py --target sm_90 --artifact /tmp/tb.so --sizes 16x256x128,100x384x200,130x264x136,300x512x256 --launches 1 > /tmp/san/$tool.log 2>&1; echo "$tool rc $? $((SECONDS-t)) s"; grep -E 'ERROR SUMMARY|RACECHECK SUMMARY|cases pass' /tmp/san/$tool.log | sort | uniq -c | head; tail -3 /tmp/san/$tool.log) & done; wait
unset PYTHONPATH; step aa bash /tmp/sm/aa.sh 2 /tmp/aab 10
git clone -q /tmp/repo /tmp/tune; cd /tmp/tune; git config user.name "Seed 1059eb94 maintainers"; git config user.email maintainers@users.noreply.a-seed-1059eb94.example
step tune timeout 500 expctl tune --target sm_90; git log --oneline -3; git bundle create -q /tmp/out/tune.bundle origin/HEAD..HEAD
mkdir -p /tmp/xy; cd /tmp/xy; git clone -q /tmp/tb .; git apply /tmp/sm/p/XY.1.patch
step xybuild nvcc -gencode=arch=compute_90a,code=sm_90a -O3 -std=c++17 -shared -Xcompiler -fPIC kernel/hip/host_cuda.cu -o /tmp/xy.so -lcuda
EXPCTL_KERNEL_LIBRARY=/tmp/xy.so PYTHONPATH=/tmp/xy step xyrows timeout 100 python3 -m benchmarks.operator.back_to_back --device cuda --only "library product alone" --long-rounds 1 --sizes 16x8192x8192,32x8192x8192,64x8192x8192,128x8192x8192,16x12288x2048,32x12288x2048,64x12288x2048,128x12288x2048 --out /tmp/out/xyrows.json
touch /tmp/b.done
