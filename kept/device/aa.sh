# aa.sh SEED FOLDER COUNT: A/A experiments under the blind protocol; where style fine fails there, style launch
git clone -q /tmp/repo /tmp/live$1; cd /tmp/live$1
Y=benchmarks/verdict/live_sm_90.yaml
timeout 500 python3 -m benchmarks.verdict.live $2 --target sm_90 --counts $3,0,0 --seed $1 --protocol $Y; r=$?
if [ $r -ne 0 ] && [ ! -s $2/results.jsonl ]; then mv $2 $2.fine; sed -i 's/style: fine/style: launch\n      together: true\n      rounds: 46/; /quads: 4/d' $Y; timeout 450 python3 -m benchmarks.verdict.live $2 --target sm_90 --counts $3,0,0 --seed $1 --protocol $Y; r=$?; fi
cp $2/results.jsonl /tmp/out/aa.$1.jsonl; cp $2/traces.jsonl /tmp/out/aatraces.$1.jsonl; exit $r
