# lane x: two experiments at the same time, each on a card of its own; both landed in clones of one history (two GPUs)
export PYTHONUNBUFFERED=1; N=$(cat /tmp/ncards); cd /tmp
if [ $N -ge 2 ]; then
  git clone -q /tmp/repo /tmp/r1; echo "=== two runs at the same time, at $SECONDS s"
  for n in 0 1; do
    words="P67 --target sm_90-rows"; d=/tmp/repo; [ $n = 1 ] && { words="P64 --again"; d=/tmp/r1; }
    (cd $d; export CUDA_VISIBLE_DEVICES=$n; t=$SECONDS; timeout -s INT 640 expctl run $words > /tmp/out/two.$n.log 2>&1; echo "card $n $words exit $? from $t to $SECONDS s"; tail -24 /tmp/out/two.$n.log) & P[$n]=$!
  done
  for i in 1 2 3 4; do sleep 15; (cd /tmp/repo; echo "--- gate of card 0, $SECONDS s"; CUDA_VISIBLE_DEVICES=0 expctl gate --target sm_90 | head -6); done
  wait ${P[0]} ${P[1]}
  (cd /tmp/r1; git fetch -q /tmp/repo HEAD; git log --oneline -3 FETCH_HEAD | cat)
fi; touch /tmp/noise.done
