# call.sh SECONDS ITEM...: the first call: sets up, starts the lanes, follows them for so long, brings back what was committed
export PYTHONUNBUFFERED=1; T=$1; shift
bash .sm/setup.sh 2>&1 | tail -4; rm -rf /tmp/sm; cp -r .sm /tmp/sm; mkdir -p /tmp/out; echo "set up $SECONDS s"
(git clone -q /tmp/repo /tmp/gd; cd /tmp/gd; git apply /tmp/sm/gdev.patch; PYTHONPATH=/tmp/gd timeout 60 python3 /tmp/sm/gdev.py; PYTHONPATH=/tmp/gd timeout 40 python3 -c "from expctl.cli.entry import main; main()" doctor walls | tail -12; cd /tmp/repo; timeout 40 expctl doctor walls | tail -12) 2>&1 | tee /tmp/out/gdev.log | tail -60; echo "probe $SECONDS s"
N=$(nvidia-smi -L | wc -l); for x in "$@"; do echo "$x"; done > /tmp/items
if [ $N -lt 2 ]; then echo cmd:example.sh >> /tmp/items; setsid bash /tmp/sm/q.sh > /tmp/q.log 2>&1 < /dev/null &
else CUDA_VISIBLE_DEVICES=0 setsid unshare --pid --fork --mount-proc bash /tmp/sm/q.sh > /tmp/q.log 2>&1 < /dev/null &
  setsid unshare --pid --fork --mount-proc bash /tmp/sm/example.sh 1 1500 > /tmp/b.log 2>&1 < /dev/null & fi
sleep 1; bash /tmp/sm/next.sh $((T-SECONDS))
