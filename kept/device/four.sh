# four.sh SECONDS: first call. Sets up, then all lanes; prints what is new. Cards: nvidia-smi -L (1, 2 or 4).
export PYTHONUNBUFFERED=1; T=$1
N=$(nvidia-smi -L | wc -l); echo $N > /tmp/ncards; nvidia-smi -L; lscpu | grep -E 'Model name|^CPU\(s\)'
bash .sm/setup.sh 2>&1 | tail -6; rm -rf /tmp/sm; cp -r .sm /tmp/sm; mkdir -p /tmp/out /tmp/L
for k in name email; do v="Seed 1059eb94 maintainers"; [ $k = email ] && v=maintainers@users.noreply.a-seed-1059eb94.example; git config --global user.$k "$v"; done
git -C /tmp/repo rev-parse HEAD > /tmp/base; E=$(dirname $(python3 -c 'import sys;print(sys.executable)')); [ -e $E/expctl ] || ln -s /usr/local/bin/expctl $E/expctl
nvcc -O3 -arch=sm_90 /tmp/sm/foreign.cu -o /tmp/foreign; echo "set up $SECONDS s"
setsid bash /tmp/sm/boss.sh > /tmp/L/boss.log 2>&1 < /dev/null &
sleep 1; bash /tmp/sm/follow.sh $((T-SECONDS))
