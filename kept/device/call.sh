# call.sh SECONDS ITEM...: adds items, follows the queue for so long, brings back what was committed
export PYTHONUNBUFFERED=1; T=$1; shift
bash .sm/setup.sh 2>&1 | tail -3; rm -rf /tmp/sm; cp -r .sm /tmp/sm; for x in "$@"; do echo "$x"; done >> /tmp/items; rm -f /tmp/q.idle
if [ ! -f /tmp/q.begun ]; then touch /tmp/q.begun; setsid bash /tmp/sm/q.sh > /tmp/q.log 2>&1 < /dev/null & sleep 1; fi
while [ $SECONDS -lt $T ] && [ ! -f /tmp/q.done ] && [ ! -f /tmp/q.idle ]; do sleep 1; done
at=$(cat /tmp/q.at 2>/dev/null || echo 0); wc -c < /tmp/q.log > /tmp/q.at; tail -c +$((at+1)) /tmp/q.log
cd /tmp/repo; b=$(cat /tmp/base); git log --oneline $b..HEAD | cat; git bundle create -q $OUT/repo.bundle $b..HEAD 2>/dev/null; git status --short | head -5
cp /tmp/out/* $OUT/ 2>/dev/null; cp /tmp/q.log $OUT/; tar czf $OUT/logs.tgz .git/expctl/logs 2>/dev/null; true
