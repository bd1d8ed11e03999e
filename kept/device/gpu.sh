export PYTHONUNBUFFERED=1; bash .sm/setup.sh 2>&1 | tail -3; [ -x /tmp/foreign ] || nvcc -O3 -arch=sm_90 .sm/foreign.cu -o /tmp/foreign
bash .sm/dog.sh "$@"
