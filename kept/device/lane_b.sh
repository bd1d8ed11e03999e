# lane B, on the second card: A/A (20 take about 80 s each), racecheck with P60's change, rows with it, tune (more than 500 s)
export PYTHONUNBUFFERED=1 EXPCTL_LOCK_DIR=/tmp/lockb PATH=/usr/local/cuda/bin:$PATH; mkdir -p $EXPCTL_LOCK_DIR /tmp/out /tmp/san
step() { n=$1; shift; t=$SECONDS; "$@" 2>&1; echo "=== $n exit $? after $((SECONDS-t)) s, at $SECONDS s"; }
build() { nvcc -gencode=arch=compute_90a,code=sm_90a -O3 -std=c++17 -shared -Xcompiler -fPIC kernel/hip/host_cuda.cu -o $1 -lcuda; }
git clone -q /tmp/repo /tmp/tb; cd /tmp/tb; git apply experiments/P60/change.patch; step build build /tmp/p60.so; export PYTHONPATH=/tmp/tb
step racecheck timeout 150 compute-sanitizer --tool racecheck --target-processes all python3 kernel/harness/test_scaled_mm.py --target sm_90 --artifact /tmp/p60.so --sizes 16x256x128,100x384x200,130x264x136,300x512x256 --launches 1 > /tmp/san/race.log 2>&1; grep -c Race /tmp/san/race.log; tail -2 /tmp/san/race.log
unset PYTHONPATH; step aa bash /tmp/sm/aa.sh 3 /tmp/aab 14
touch /tmp/b.done
