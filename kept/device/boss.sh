# starts lane x (two cards, one pid namespace: what they know of each other is the question), and lanes a to d, each in a namespace and
# lock folder of its own, so that nobody of them sees another. Lanes are children of this shell, not of lane x: a parent sees its children's.
N=$(cat /tmp/ncards); cd /tmp
lane() { (unshare --pid --fork --mount-proc env EXPCTL_LOCK_DIR=/tmp/lock$1 CUDA_VISIBLE_DEVICES=$2 bash /tmp/sm/lane_$1.sh $2 > /tmp/L/$1.log 2>&1 < /dev/null; echo "lane $1 ends, exit $?" >> /tmp/L/$1.log) & mkdir -p /tmp/lock$1; }
git clone -q /tmp/sm/example-h200.bundle -b master /tmp/exc; (cd /tmp/exc; git rev-parse HEAD > /tmp/exbase)
if [ $N -ge 2 ]; then
  (unshare --pid --fork --mount-proc bash /tmp/sm/lane_x.sh > /tmp/L/x.log 2>&1 < /dev/null) & X=$!
  [ $N -ge 4 ] && { while ! [ -f /tmp/noise.done ]; do sleep 1; done; lane c 2; lane d 3; }
  wait $X; ROWS=" " lane a 0; lane b 1
else lane a 0; fi
wait; touch /tmp/L/all.done
