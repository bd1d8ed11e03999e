export PYTHONUNBUFFERED=1 OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1; T0=$SECONDS; R=$PWD; L=${1:-560}
nproc; bash .sm/setup.sh 2>&1 | tail -3; echo "setup $((SECONDS-T0))"
# in the repository: an experiment that needs no timing
(mkdir -p /tmp/sm; cp -r .sm/. /tmp/sm; cd /tmp/repo; eval "expctl new $(cat /tmp/sm/p/21.args) --patch /tmp/sm/p/21.patch" && id=$(git log -1 --format=%s | grep -oE 'P[0-9]+' | head -1) && CUDA_VISIBLE_DEVICES=0 timeout 300 expctl run $id --target sm_90; git bundle create -q $OUT/repo.bundle $(git rev-parse origin/HEAD 2>/dev/null || git rev-parse HEAD~2)..HEAD; git log --oneline | head -3) > $OUT/p21.log 2>&1 &
p=$!
export PYTHONPATH=$R; ln -sf $OUT/builds.jsonl benchmarks/interpreter/builds.jsonl; : > $OUT/builds.jsonl
left() { echo $((L - SECONDS + T0)); }
timeout $(left) python3 -m benchmarks.interpreter.guard_mutants --seeds 5 --kept $OUT/kept.jsonl --jobs 11 > $OUT/mutants.log 2>&1 & a=$!
timeout $(left) python3 -m benchmarks.interpreter.builds /tmp/x --other 0.16.0 --jobs 8 > $OUT/builds.log 2>&1 & b=$!
(timeout $(left) python3 -m benchmarks.check.on_host --levels=-O0,-O1,-O2,-O3 --jobs 6 > $OUT/on_host.log 2>&1; echo "on_host rc $? $((SECONDS-T0))"; tail -12 $OUT/on_host.log) & d=$!
timeout $(left) python3 -m benchmarks.check.random_kernels --builds 560 --seed 20 --levels=-O0,-O1,-O2,-O3 --jobs 10 --shrink 0 > $OUT/random.log 2>&1 & c=$!
wait $c; echo "random done $((SECONDS-T0))"; tail -9 $OUT/random.log
wait $d
wait $b; echo "builds rc $? $((SECONDS-T0))"; tail -9 $OUT/builds.log; wc -l $OUT/builds.jsonl
wait $a; echo "mutants rc $? $((SECONDS-T0))"; wc -l $OUT/kept.jsonl; tail -4 $OUT/mutants.log; grep -c WRONG $OUT/mutants.log
wait $p; cat $OUT/p21.log | tail -30
