export CUDA_VISIBLE_DEVICES=${CUDA_VISIBLE_DEVICES:-0}; bash /tmp/sm/aa.sh 6 /tmp/aaa 4
