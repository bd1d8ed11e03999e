# call.sh SECONDS: sets up, measures expctl's own cost on the quiet machine, starts both lanes, follows them
export PYTHONUNBUFFERED=1; T=$1
bash .sm/setup.sh 2>&1 | tail -5; rm -rf /tmp/sm; cp -r .sm /tmp/sm; mkdir -p /tmp/out /tmp/before; git config --global user.name "Seed 1059eb94 maintainers"; git config --global user.email maintainers@users.noreply.a-seed-1059eb94.example; git -C /tmp/repo rev-parse HEAD > /tmp/base; echo "set up $SECONDS s"
tar xJf /tmp/sm/before.tar.xz -C /tmp/before; cp -r /tmp/repo /tmp/now
# overhead did not end within 45 s there, twice, and said nothing: give it 150 s, alone, and look at what it prints
(cd /tmp/repo; timeout 40 expctl doctor walls | tail -6); echo "overhead $SECONDS s"
printf 'P59\nP60\nXY\ncmd:calibrate.sh\n' > /tmp/items
CUDA_VISIBLE_DEVICES=0 setsid unshare --pid --fork --mount-proc bash /tmp/sm/q.sh > /tmp/q.log 2>&1 < /dev/null &
CUDA_VISIBLE_DEVICES=1 setsid unshare --pid --fork --mount-proc bash /tmp/sm/lane_b.sh > /tmp/b.log 2>&1 < /dev/null &
sleep 1; bash /tmp/sm/next.sh $((T-SECONDS))
