# dog.sh MOST_SECONDS ITEM...   ITEM = name of /tmp/p/NAME.patch with /tmp/p/NAME.args
most=$1; shift; t0=$SECONDS; cd /tmp/repo; base=$(cat /tmp/base 2>/dev/null || git rev-parse HEAD); echo $base > /tmp/base
for name in "$@"; do
  left=$((most - SECONDS + t0)); [ $left -lt 60 ] && { echo "no time for $name"; break; }
  id=$(cut -d' ' -f1 /tmp/p/$name.args)
  echo "=== $name $id at $((SECONDS - t0)) s"
  if [ ! -d experiments/$id ]; then eval "expctl new $(cat /tmp/p/$name.args) --patch /tmp/p/$name.patch" || continue; fi
  if [ -f /tmp/p/$name.foreign ]; then (sleep $(cat /tmp/p/$name.foreign); exec timeout 120 python3 -c 'import torch
a=torch.randn(8192,8192,device="cuda",dtype=torch.half)
while True:
  for _ in range(20): a@a
  torch.cuda.synchronize()') & fi
  timeout -s INT $left expctl run $id 2>&1; echo "=== $name exit $? at $((SECONDS - t0)) s"
  pkill -f 'torch.randn.8192' || true
  git bundle create -q $OUT/repo.bundle $base..HEAD 2>/dev/null; cp -r .git/expctl/logs $OUT/ 2>/dev/null || true
done
expctl status 2>&1; git log --oneline $base..HEAD; git bundle create -q $OUT/repo.bundle $base..HEAD; true
