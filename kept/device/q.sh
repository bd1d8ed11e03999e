# q.sh: takes items from /tmp/items, one after the other; an item is a patch in p/ (ID or number), or cmd:SCRIPT
P=/tmp/sm/p; cd /tmp/repo; base=$(git rev-parse HEAD); echo $base > /tmp/base; export PYTHONUNBUFFERED=1; i=0; idle=0
[ -x /tmp/foreign ] || nvcc -O3 -arch=sm_90 /tmp/sm/foreign.cu -o /tmp/foreign
while :; do
  i=$((i+1)); name=$(sed -n ${i}p /tmp/items)
  if [ -z "$name" ]; then i=$((i-1)); idle=$((idle+1)); [ $idle -gt 45 ] && break; touch /tmp/q.idle; sleep 1; continue; fi
  idle=0; rm -f /tmp/q.idle; t0=$SECONDS; echo "=== $name at $SECONDS s"
  case $name in cmd:*) bash /tmp/sm/${name#cmd:} 2>&1; echo "=== $name exit $? after $((SECONDS-t0)) s"; continue;; esac
  n=${name%%@*}; again=; [ "$n" != "$name" ] && again=--again
  id=; case $n in P*) id=$n;; *) id=$(cat /tmp/id.$n 2>/dev/null);; esac
  if [ -z "$id" ]; then
    patch=; for f in $P/$n.patch $P/$n.?.patch; do [ -f $f ] && git apply --check $f 2>/dev/null && { patch=$f; break; }; done
    [ -z "$patch" ] && { echo "=== $n: no form of it applies"; continue; }
    first=; ls experiments | grep -qE '^P(4[4-9]|[5-9].)$' || first=P45
    eval "expctl new $first $(cat $P/$n.args) --patch $patch" > /tmp/new.log 2>&1 || { tail -8 /tmp/new.log; echo "=== $n not queued"; continue; }
    id=$(git log -1 --format=%s | grep -oE 'P[0-9]+' | head -1); echo $id > /tmp/id.$n; echo "$n is $id by $(basename $patch)"; fi
  target=; [ -f $P/$n.target ] && target="--target $(cat $P/$n.target)"
  fp=; if [ -f $P/$n.foreign ] && [ -z "$again" ]; then
    (while ! grep -q 'cases pass' /tmp/run.log; do sleep .3; done; for j in $(seq 120); do sleep $(cat $P/$n.foreign); /tmp/foreign 900; done) & fp=$!; fi
  : > /tmp/run.log; expctl run $id $target $again 2>&1 | tee /tmp/run.log; echo "=== $n $id exit ${PIPESTATUS[0]} after $((SECONDS-t0)) s"
  [ -n "$fp" ] && kill $fp 2>/dev/null
done
echo "=== queue ends"; touch /tmp/q.done
