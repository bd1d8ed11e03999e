rm -rf /tmp/sm; cp -r .sm /tmp/sm; ln -sfn /tmp/sm /tmp/repo_sm 2>/dev/null
export PYTHONUNBUFFERED=1; bash .sm/setup.sh 2>&1 | tail -3; cd /tmp/repo; git log --oneline | head -2
if ! git log --oneline | grep -q P41; then git fetch -q /tmp/sm/p41.bundle HEAD && git merge -q --ff-only FETCH_HEAD; git log --oneline | head -1; fi
T=$SECONDS
timeout 150 python3 -m benchmarks.operator.measure --device cuda --out $OUT/operator.json > $OUT/operator.log 2>&1; echo "operator rc $? $((SECONDS-T))"; tail -25 $OUT/operator.log
timeout -s INT 330 expctl rivals --target sm_90 > $OUT/rivals.log 2>&1; echo "rivals rc $? $((SECONDS-T))"; tail -60 $OUT/rivals.log
nvidia-smi --query-gpu=name,clocks.sm,power.draw --format=csv,noheader
left=$((560-SECONDS)); [ $left -gt 150 ] && bash /tmp/sm/dog.sh $left 24
true
