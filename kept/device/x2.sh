#!/bin/bash
# x2.sh CLONE [FOLDER]: on a host with two H200s, what `gate: cards: own` does and what a neighbour costs in noise.
# CLONE: a clone (with .venv ready) of the branch; works in copies of it below FOLDER. Prints everything; takes about 9 minutes.
# ID (P62): the experiment that both run. Parts: PARTS="run noise" (default both). ROUNDS (6), TARGET (sm_90), LIMIT (seconds for each part; 260).
set -u
SRC=$(realpath "$1"); W=${2:-$(mktemp -d /tmp/x2.XXXX)}; PARTS=${PARTS:-run noise}
ROUNDS=${ROUNDS:-6}; TARGET=${TARGET:-sm_90}; LIMIT=${LIMIT:-260}
mkdir -p "$W"; PY=$SRC/.venv/bin/python
E() { PYTHONPATH=$PWD "$PY" -m expctl "$@"; }      # the copy's own source
nvidia-smi -L; ls -l /dev/nvidia? ; ls /proc/driver/nvidia/gpus 2>/dev/null; ls /proc/locks

clone() { # NAME: a clone whose protocol says own
  git clone -q "$SRC" "$W/$1"; cd "$W/$1"
  git config user.name x2; git config user.email x2@example.org
  "$PY" - <<'P'
import pathlib, re
OWN = 'gate:\n  cards: own\n  idle_holders: ["nvidia-persist*", nv-hostengine, "nv-fabricmanag*", nvidia-smi]\n'
p = pathlib.Path("protocol.yaml"); t = p.read_text()
t = re.sub(r"(?m)^gate:\n", OWN, t) if re.search(r"(?m)^gate:\n", t) else t + "\n" + OWN
p.write_text(t)
P
  git diff; git commit -qam "The gate keeps its own card"
}
card() { nvidia-smi --query-gpu=index,utilization.gpu,clocks.sm,temperature.gpu,power.draw --format=csv,noheader; }
busy() { # a product on card 1 that is a neighbour: it holds card 1's lock by the code that runs use
  CUDA_VISIBLE_DEVICES=1 PYTHONPATH=$PWD "$PY" - "$1" <<'P'
import sys, time, torch
from expctl.adapters.machine.device_lock import MachineLock
from expctl.adapters.machine.own_cards import OwnCards, nvidia
card = nvidia()[1].name
m, c = MachineLock(experiment="busy"), MachineLock(card=card, experiment="busy")
with m.shared(wait_s=5), c.alone(wait_s=5):
    a, b = (torch.randn(8192, 8192, device="cuda", dtype=torch.bfloat16) for _ in "ab")
    print("busy on", card, flush=True)
    end = time.time() + float(sys.argv[1])
    while time.time() < end:
        for _ in range(50): a @ b
        torch.cuda.synchronize()
P
}

if [[ $PARTS == *run* ]]; then
  echo "=== two runs at the same time"
  for n in 0 1; do clone run$n; done
  cd "$W/run0"; E queue; ID=${ID:-P62}      # a waiting experiment of $TARGET
  for n in 0 1; do
    ( cd "$W/run$n"; export CUDA_VISIBLE_DEVICES=$n; date +%T; timeout "$LIMIT" env PYTHONPATH=$PWD "$PY" -m expctl run "$ID" --target "$TARGET" ; echo "rc $?"; date +%T ) > "$W/run$n.log" 2>&1 &
    P[$n]=$!
  done
  for i in $(seq 1 $((LIMIT / 20))); do
    sleep 20; cd "$W/run0"; echo "--- $((20 * i)) s"; card
    CUDA_VISIBLE_DEVICES=0 E status | sed -n '/^gate/,$p'
    kill -0 "${P[0]}" 2>/dev/null || kill -0 "${P[1]}" 2>/dev/null || break
  done
  wait "${P[0]}" "${P[1]}"
  for n in 0 1; do echo "=== card $n"; cat "$W/run$n.log"; done
fi

if [[ $PARTS == *noise* ]]; then
  echo "=== noise on card 0, without and with a neighbour on card 1"
  [ -d "$W/noise" ] || clone noise; cd "$W/noise"; export CUDA_VISIBLE_DEVICES=0
  HOME=$W/home0; mkdir -p "$HOME"; export HOME     # calibrations apart from the user's
  echo "--- idle neighbour"; card; timeout "$LIMIT" env PYTHONPATH=$PWD "$PY" -m expctl calibrate --target "$TARGET" --rounds "$ROUNDS"; echo "rc $?"
  busy "$LIMIT" & B=$!; sleep 15; card
  echo "--- busy neighbour"; CUDA_VISIBLE_DEVICES=0 E gate --target "$TARGET"
  timeout "$LIMIT" env PYTHONPATH=$PWD "$PY" -m expctl calibrate --target "$TARGET" --rounds "$ROUNDS"; echo "rc $?"
  card; kill $B 2>/dev/null; wait $B 2>/dev/null
fi
echo "logs below $W"
