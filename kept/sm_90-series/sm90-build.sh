#!/bin/bash
# builds every commit of the series through the gate: /tmp/sm90-b/<n>-<hash>.log
cd /tmp/sm90; n=0; for c in $(git rev-list --reverse 4c4ee5f5..HEAD); do n=$((n+1)); h=${c:0:8}; o=/tmp/sm90-b/$h; [ -e $o.done ] && continue
 rm -rf $o; mkdir -p $o; git archive $c kernel/hip | tar x -C $o
 WAIT=${WAIT:-0} /tmp/sm90-gate.sh nvcc -gencode=arch=compute_90a,code=sm_90a -O3 -std=c++17 -Xptxas -v -Xcompiler -fPIC -shared $o/kernel/hip/host_cuda.cu -o $o.so > $o.log 2>&1; rc=$?
 [ $rc = 75 ] && { echo "gated at $n"; exit 75; }; touch $o.done
 echo "== $n $h rc=$rc $(git log -1 --format=%s $c)"; grep -E "error|C75|[1-9][0-9]* bytes spill" $o.log | cut -c1-220 | head -8
 done
