# Profiles of a program with one thing changed at a time, by ncu: capture.sh OUT, from the root of the repository.
# No setting of the card is touched: clocks run free, and `throttled` is slow because the card has just been hot.
set -u
out=$1; here=$(dirname "$0"); mkdir -p "$out"
pages() {   # name
  for page in raw details; do ncu --import "/tmp/r_$1.ncu-rep" --csv --page $page | gzip -9 > "$out/$1.$page.csv.gz"; done
}
product() {   # name, how to profile (words of ncu), flags of nvcc
  name=$1; how=$2; shift 2
  nvcc -arch=sm_90 -O3 -lineinfo "$@" "$here/variants.cu" -o "/tmp/v_$name" || return
  # shellcheck disable=SC2086
  ncu $how --clock-control none -o "/tmp/r_$name" -f "/tmp/v_$name" > "/tmp/ncu_$name.log" 2>&1 || { tail -3 "/tmp/ncu_$name.log"; return; }
  pages "$name"
}
own() {   # name, folder of the sources
  nvcc -arch=sm_90 -std=c++17 -O3 -Xcompiler -fPIC -shared "$2/host_cuda.cu" -o "/tmp/$1.so" || return
  ncu --set full --clock-control none -k regex:scaled_mm -c 3 -o "/tmp/r_$1" -f python3 kernel/harness/profile_scaled_mm.py \
    --target sm_90 --artifact "/tmp/$1.so" --sizes 4096 --launches 3 > "/tmp/ncu_$1.log" 2>&1 || { tail -3 "/tmp/ncu_$1.log"; return; }
  pages "$1"
}
ncu --version | tail -1
full="--set full"
product base "$full"; product again "$full"; product base2 "$full"; product base3 "$full"
product renamed "$full" -DNAME=other_name; product fastmath "$full" -use_fast_math
product tile32 "$full" -DTILE=32; product tile128 "$full" -DTILE=128; product nopad "$full" -DPAD=0; product cast "$full" -DCAST
product occupancy "$full" -DDYNAMIC_BYTES=102400; product strided "$full" -DSTRIDED; product math "$full" -DEXTRA_MATH
product barriers "$full" -DBARRIERS; product larger "$full" -DN_=3072; product narrow "$full" -DNARROW
product spill "$full" -DBLOCKS=8; product spill_some "$full" -DBLOCKS=6; product fewer_registers "$full" -DBLOCKS=5
product capped "$full" -maxrregcount=24
# One pass, so that the profiled call follows on the heat.
one="--replay-mode application -k regex:tiled_product --section LaunchStats --metrics gpu__time_duration.sum,gpc__cycles_elapsed.avg.per_second,smsp__inst_executed.sum"
product cool "$one" -DBURN=1 -lcublas; product cool_again "$one" -DBURN=1 -lcublas; product throttled "$one" -DBURN=5000 -lcublas
own own kernel/hip; own own_again kernel/hip
for change in nopad noprefetch; do rm -rf "/tmp/src_$change"; cp -r kernel/hip "/tmp/src_$change"; done
sed -i 's/static constexpr int padding = .*/static constexpr int padding = 0;/' /tmp/src_nopad/slices_sm90.h
sed -i 's/^constexpr bool kPrefetch = true;.*$/constexpr bool kPrefetch = false;/' /tmp/src_noprefetch/phases.h
own own_nopad /tmp/src_nopad; own own_noprefetch /tmp/src_noprefetch
