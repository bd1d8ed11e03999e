# racecheck in detail: which instructions, which bytes (12 hazards of the tiles of 64 and 128 rows are unexplained)
cd /tmp/repo; S=/tmp/race.so; mkdir -p /tmp/out/race
nvcc -gencode=arch=compute_90a,code=sm_90a -O3 -std=c++17 -lineinfo -shared -Xcompiler -fPIC kernel/hip/host_cuda.cu -o $S -lcuda 2>&1 | grep -v warning | head -3
C=$(ls /usr/local/cuda*/bin/compute-sanitizer | head -1)
timeout 170 $C --tool racecheck --racecheck-report all --print-limit 40 --target-processes all --kernel-name kernel_substring=scaled_mm python3 kernel/harness/test_scaled_mm.py --target sm_90 --artifact $S --sizes 64x8192x8192,128x8192x8192,16x256x128,100x384x200,130x264x136 --launches 1 > /tmp/out/race/all.log 2>&1; echo "racecheck rc $?"
grep -E 'ERROR SUMMARY|RACECHECK SUMMARY|cases pass' /tmp/out/race/all.log | sort | uniq -c | head; grep -E -A6 'hazard|Race reported' /tmp/out/race/all.log | head -60
