# aa.sh SEED FOLDER COUNT: A/A experiments under the blind protocol
git clone -q /tmp/repo /tmp/live$1; cd /tmp/live$1
timeout 700 python3 -m benchmarks.verdict.live $2 --target sm_90 --counts $3,0,0 --seed $1 --protocol benchmarks/verdict/live_sm_90.yaml; r=$?
cp $2/results.jsonl /tmp/out/aa.$1.jsonl; cp $2/traces.jsonl /tmp/out/aatraces.$1.jsonl; exit $r
