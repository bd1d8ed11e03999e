export PYTHONUNBUFFERED=1 OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=4; T0=$SECONDS; R=$PWD
nproc; nvidia-smi -L; bash .sm/setup.sh 2>&1 | tail -4; echo "setup $((SECONDS-T0))"
# beside the GPU figures: the guard's and the interpreter's times, two and one cores
(export PYTHONPATH=$R; taskset -c 30,31 python3 -m benchmarks.interpreter.guard_mutants .sm/clean --seeds 3 > $OUT/guard_time.log 2>&1; taskset -c 30 python3 -m benchmarks.interpreter.speed --repeats 3 > $OUT/speed.log 2>&1) &
quiet=$!
timeout 70 python3 .sm/neighbour_raw.py 2>&1 | tail -5; echo "raw $((SECONDS-T0))"
cd /tmp/repo
CUDA_VISIBLE_DEVICES=0 timeout 120 expctl calibrate --target sm_90 --rounds 6 --wait 5 > $OUT/cal_quiet.log 2>&1; echo "quiet rc $? $((SECONDS-T0))"; tail -12 $OUT/cal_quiet.log
CUDA_VISIBLE_DEVICES=1 python3 -c '
import torch,time
a=torch.randn(8192,8192,device="cuda",dtype=torch.float16); t=time.time()
while time.time()-t<100:
    for _ in range(20): a@a
    torch.cuda.synchronize()' & nb=$!
sleep 4; CUDA_VISIBLE_DEVICES=0 timeout 20 expctl gate --target sm_90 2>&1 | head -20
CUDA_VISIBLE_DEVICES=0 timeout 90 expctl calibrate --target sm_90 --rounds 6 --wait 5 > $OUT/cal_busy.log 2>&1; echo "busy rc $? $((SECONDS-T0))"; tail -12 $OUT/cal_busy.log
kill $nb; cd $R; wait $quiet; cat $OUT/guard_time.log $OUT/speed.log; echo "batch from $((SECONDS-T0))"
export PYTHONPATH=$R OMP_NUM_THREADS=1; cp benchmarks/interpreter/builds.jsonl /tmp/old.jsonl; : > $OUT/builds.jsonl; ln -sf $OUT/builds.jsonl benchmarks/interpreter/builds.jsonl
left() { echo $((585 - SECONDS + T0)); }
timeout $(left) python3 -m benchmarks.interpreter.guard_mutants --seeds 5 --kept $OUT/kept.jsonl --jobs 10 > $OUT/mutants.log 2>&1 & a=$!
timeout $(left) python3 -m benchmarks.interpreter.builds /tmp/x --other 0.16.0 --jobs 8 > $OUT/builds.log 2>&1 & b=$!
timeout $(left) python3 -m benchmarks.check.random_kernels --builds 560 --seed 20 --levels=-O0,-O1,-O2,-O3 --jobs 12 --shrink 0 > $OUT/random.log 2>&1 & c=$!
wait $c; echo "random done $((SECONDS-T0))"; tail -9 $OUT/random.log
wait $b; echo "builds done $((SECONDS-T0))"; tail -9 $OUT/builds.log
wait $a; echo "mutants done $((SECONDS-T0))"; grep -c right $OUT/mutants.log; tail -2 $OUT/mutants.log; grep WRONG $OUT/mutants.log
