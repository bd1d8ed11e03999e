# call.sh SECONDS: sets up, measures expctl's own cost on the quiet machine, starts the lane, follows it
export PYTHONUNBUFFERED=1; T=$1
bash .sm/setup.sh 2>&1 | tail -5; rm -rf /tmp/sm; cp -r .sm /tmp/sm; mkdir -p /tmp/out /tmp/before; git config --global user.name "Seed 1059eb94 maintainers"; git config --global user.email maintainers@users.noreply.a-seed-1059eb94.example; git -C /tmp/repo rev-parse HEAD > /tmp/base; echo "set up $SECONDS s"
E=$(dirname $(python3 -c 'import sys;print(sys.executable)')); [ -e $E/expctl ] || ln -s /usr/local/bin/expctl $E/expctl
tar xJf /tmp/sm/before.tar.xz -C /tmp/before; cp -r /tmp/repo /tmp/now
lscpu | grep -E 'Model name|MHz|^CPU\(s\)'; uname -r; cat /sys/fs/cgroup/cgroup.controllers 2>/dev/null | head -1
for w in now before now before; do (cd /tmp/$w; t=$SECONDS; timeout 45 python3 /tmp/sm/ov.py --repeats 3 --out /tmp/out/overhead.$w.json > /tmp/out/ov.$w.log 2>&1; r=$?; echo "$w rc $r $((SECONDS-t)) s"; tail -22 /tmp/out/ov.$w.log; [ $r -ne 124 ]) || break; done
(cd /tmp/repo; timeout 40 expctl doctor walls | tail -4); echo "overhead $SECONDS s"
printf 'P63\nP62\nP62@2\nP51@2\ncmd:aa_a.sh\ncmd:rows45.sh\n' > /tmp/items
setsid unshare --pid --fork --mount-proc bash /tmp/sm/q.sh > /tmp/q.log 2>&1 < /dev/null &
sleep 1; bash /tmp/sm/next.sh $((T-SECONDS))
