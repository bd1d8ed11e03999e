set -e
N=$1
test -d WORK/s55-$N || git -C REPO worktree add -q -b s55-$N WORK/s55-$N main
bash /tmp/venv.sh WORK/s55-$N
