# one card: the example's rungs, then P67. More cards: lane x first (two experiments at the same time), then lanes beside each other
N=$(cat /tmp/ncards); cd /tmp
lane() { (unshare --pid --fork --mount-proc env EXPCTL_LOCK_DIR=/tmp/lock$1 CUDA_VISIBLE_DEVICES=$2 bash /tmp/sm/lane_$1.sh $2 > /tmp/L/$1.log 2>&1 < /dev/null; echo "lane $1 ends, exit $?" >> /tmp/L/$1.log) & mkdir -p /tmp/lock$1; }
git clone -q /tmp/sm/example-h200.bundle -b master /tmp/exc; (cd /tmp/exc; git rev-parse HEAD > /tmp/exbase)
if [ $N -ge 2 ]; then
  (unshare --pid --fork --mount-proc bash /tmp/sm/lane_x.sh > /tmp/L/x.log 2>&1 < /dev/null) & X=$!
  wait $X; ROWS=" " lane a 0; lane b 1
else lane c 0; wait; lane a 0; fi
wait; touch /tmp/L/all.done
