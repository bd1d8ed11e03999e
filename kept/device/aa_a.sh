export CUDA_VISIBLE_DEVICES=${CUDA_VISIBLE_DEVICES:-0}; bash /tmp/sm/aa.sh 1 /tmp/aaa 10
