# lane x: the noise of card 0 without and with a neighbour on card 1, then two runs at the same time
export PYTHONUNBUFFERED=1; N=$(cat /tmp/ncards); cd /tmp
card() { nvidia-smi --query-gpu=index,utilization.gpu,clocks.sm,temperature.gpu,power.draw --format=csv,noheader; }
cal() { (mkdir -p /tmp/home0; cd /tmp/noise; HOME=/tmp/home0 XDG_STATE_HOME=/tmp/home0/s CUDA_VISIBLE_DEVICES=0 timeout 150 expctl calibrate --target sm_90 --rounds 8 --json > /tmp/out/noise.$1.json 2> /tmp/out/noise.$1.log; echo "calibrate $1: exit $? at $SECONDS s"; tail -3 /tmp/out/noise.$1.log; head -c 1500 /tmp/out/noise.$1.json); }
if [ $N -ge 2 ]; then
  git clone -q /tmp/repo /tmp/noise; card; echo "--- idle neighbours"; cal idle
  cat > /tmp/busy.py <<'P'
import sys, time, torch
from expctl.adapters.machine.device_lock import MachineLock
from expctl.adapters.machine.own_cards import nvidia
cards = nvidia(); card = cards[1].name
m, c = MachineLock(experiment="busy"), MachineLock(card=card, experiment="busy")
with m.shared(wait_s=5), c.alone(wait_s=5):
    a, b = (torch.randn(8192, 8192, device="cuda", dtype=torch.bfloat16) for _ in "ab")
    print("busy on", card, flush=True); end = time.time() + float(sys.argv[1])
    while time.time() < end:
        for _ in range(50): a @ b
        torch.cuda.synchronize()
P
  (cd /tmp/noise; CUDA_VISIBLE_DEVICES=1 exec python3 /tmp/busy.py 400) & Z=$!
  sleep 12; card; (cd /tmp/noise; CUDA_VISIBLE_DEVICES=0 expctl gate --target sm_90); echo "--- busy neighbour(s)"; cal busy; card; kill $Z; wait $Z 2>/dev/null; touch /tmp/noise.done
  echo "=== two runs at the same time, at $SECONDS s"; git clone -q /tmp/repo /tmp/r1
  for n in 0 1; do
    id=P52; d=/tmp/repo; w=--again; [ $n = 1 ] && { id=P51; d=/tmp/r1; }
    (cd $d; export CUDA_VISIBLE_DEVICES=$n; t=$SECONDS; timeout 330 expctl run $id --target $(cat /tmp/sm/p/$id.target) $w > /tmp/out/two.$n.log 2>&1; echo "card $n $id exit $? from $t to $SECONDS s"; tail -14 /tmp/out/two.$n.log) & P[$n]=$!
  done
  for i in 1 2 3 4; do sleep 12; (cd /tmp/repo; echo "--- gate of card 0, $SECONDS s"; CUDA_VISIBLE_DEVICES=0 expctl gate --target sm_90 | head -12); done
  wait ${P[0]} ${P[1]}
fi
