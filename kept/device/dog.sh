# dog.sh MOST_SECONDS ITEM...   ITEM = name of a patch in .sm/p with its .args and perhaps .target, .foreign
most=$1; shift; t0=$SECONDS; P=/tmp/sm/p; cd /tmp/repo; base=$(cat /tmp/base 2>/dev/null || git rev-parse HEAD); echo $base > /tmp/base
export PYTHONUNBUFFERED=1
for name in "$@"; do
  left=$((most - SECONDS + t0)); [ $left -lt 45 ] && { echo "no time for $name"; break; }
  echo "=== $name at $((SECONDS - t0)) s"
  id=$(cat /tmp/id.$name 2>/dev/null)
  if [ -z "$id" ]; then
    patch=; for f in $P/$name.patch $P/$name.?.patch; do [ -f $f ] && git apply --check $f 2>/dev/null && { patch=$f; break; }; done
    [ -z "$patch" ] && { echo "=== $name: no form of it applies"; continue; }
    eval "expctl new $(cat $P/$name.args) --patch $patch" > /tmp/new.log 2>&1 || { tail -8 /tmp/new.log; echo "=== $name not queued"; continue; }
    id=$(ls -t experiments | head -1); id=$(git log -1 --format=%s | grep -oE 'P[0-9]+' | head -1); echo $id > /tmp/id.$name; fi
  target=""; [ -f $P/$name.target ] && target="--target $(cat $P/$name.target)"
  if [ -f $P/$name.foreign ]; then (sleep 20; for i in $(seq 40); do sleep $(cat $P/$name.foreign); /tmp/foreign 900; done) & fp=$!; fi
  timeout -s INT $left expctl run $id $target 2>&1; echo "=== $name $id exit $? at $((SECONDS - t0)) s"
  [ -n "$fp" ] && { kill $fp; fp=; }
  git bundle create -q $OUT/repo.bundle $base..HEAD 2>/dev/null
done
tar czf $OUT/logs.tgz .git/expctl/logs 2>/dev/null
git log --oneline $base..HEAD | cat; git bundle create -q $OUT/repo.bundle $base..HEAD; true
