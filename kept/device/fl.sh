cp -r .sm2 /tmp/sm2; export PYTHONUNBUFFERED=1 OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1; T0=$SECONDS; L=${1:-330}; S=/tmp/sm2; export PATH=/usr/local/cuda/bin:$PATH
PY=$(which python3); SITE=$(python3 -c 'import sysconfig;print(sysconfig.get_paths()["purelib"])')
tar xJf $S/zigmeta.tar.xz -C $SITE; xz -dc -T8 $S/zig.tar.xz | tar x -C $SITE & z=$!
python3 -m pip install -q --no-index --no-deps --no-compile --no-cache-dir --upgrade --target $SITE $S/whl/*.whl 2>&1 | grep -v WARN
mkdir -p /tmp/bare; tar xJf $S/repo.tar.xz -C /tmp/bare; git clone -q /tmp/bare/shallow /tmp/repo; echo /tmp/repo > $SITE/expctl_here.pth
git config --global user.name tester; git config --global user.email tester@example.org
for d in $(dirname $PY) /usr/local/bin; do printf '#!%s\nfrom expctl.cli.entry import main\nmain()\n' $PY > $d/expctl; chmod +x $d/expctl; done
wait $z; printf 'import os, sys\nassert sys.argv[1] == "cc"\nos.execvp("gcc", ["gcc", *sys.argv[2:]])\n' > $SITE/ziglang/__main__.py
cd /tmp/repo; git log --oneline | head -1; nproc; which gcc g++ nvcc; echo "setup $((SECONDS-T0)) s"
(git clone -q /tmp/repo /tmp/op; cd /tmp/op; git am -q $S/op.patch 2>&1 | tail -2; PYTHONPATH=/tmp/op timeout 220 taskset -c 0-3 python3 -m benchmarks.operator.measure --device cuda --out $OUT/operator.json > $OUT/operator.log 2>&1; echo "operator rc $? $((SECONDS-T0))") &
timeout $((L-SECONDS+T0)) python3 -m tests.faults.outside_kills --trials 520 --seed 40 --jobs 12 --out $OUT/kills.json > $OUT/kills.log 2>&1 & k=$!
timeout $((L-SECONDS+T0)) env PYTHONPATH=/tmp/repo python3 $S/drive.py 3000 7 22 $OUT/table.json > $OUT/faults.log 2>&1; echo "faults rc $? $((SECONDS-T0))"
wait $k; echo "kills rc $? $((SECONDS-T0))"; tail -60 $OUT/faults.log | cut -c1-150; tail -75 $OUT/kills.log | cut -c1-200; tail -30 $OUT/operator.log
true
