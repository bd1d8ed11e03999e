# once a machine
SITE=$(python3 -c "import sysconfig;print(sysconfig.get_paths()[\"purelib\"])"); tar xJf .sm/zigmeta.tar.xz -C $SITE
[ -d /tmp/repo ] && exit 0
set -e
SITE=$(python3 -c 'import sysconfig;print(sysconfig.get_paths()["purelib"])')
python3 -m pip install -q --no-index --no-deps --no-compile --no-cache-dir --upgrade --target $SITE .sm/whl/*.whl 2>&1 | grep -v WARN || true
(nice tar xJf .sm/zig.tar.xz -C $SITE; touch /tmp/zig.done) > /dev/null 2>&1 &
mkdir -p /tmp/bare; tar xJf .sm/repo.tar.xz -C /tmp/bare
git clone -q /tmp/bare/shallow /tmp/repo; cd /tmp/repo; git config user.name "Seed 1059eb94 maintainers"; git config user.email maintainers@users.noreply.a-seed-1059eb94.example
echo /tmp/repo > $SITE/expctl_here.pth
printf '#!/bin/sh\nexec python3 -c "from expctl.cli.entry import main; main()" "$@"\n' > /usr/local/bin/expctl; chmod +x /usr/local/bin/expctl

git log --oneline | head -2; which python3 nvcc ncu; nvidia-smi --query-gpu=name,clocks.sm,power.draw,temperature.gpu --format=csv,noheader; nproc; date
