export PYTHONUNBUFFERED=1 EXPCTL_LOCK_DIR=/tmp/lockb CUDA_VISIBLE_DEVICES=${1:-1}; mkdir -p $EXPCTL_LOCK_DIR; git clone -q /tmp/repo /tmp/ex; cd /tmp/ex
nvidia-smi -L; which gcc g++ cc
timeout ${2:-1500} python3 examples/inference/ladder.py all /tmp/example; echo "example exit $? after $SECONDS s"
touch /tmp/b.example; t=$SECONDS
git clone -q /tmp/repo /tmp/op; cd /tmp/op; git config user.name a; git config user.email a@b; git am -q -3 /tmp/sm/op.patch 2>&1 | tail -2
PYTHONPATH=/tmp/op timeout 200 python3 -m benchmarks.operator.measure --device cuda --out /tmp/out/operator.json 2>&1 | tail -40; echo "operator after $((SECONDS-t)) s"
echo done > /tmp/b.done
