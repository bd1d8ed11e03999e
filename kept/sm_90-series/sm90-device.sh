#!/bin/bash
# In a checkout of s34-sm90 on a machine with nvcc, torch and a GPU: builds each step, times it, tests it. One line a step. At most 8 minutes.
# usage: sm90-device.sh [BASE] [steps, such as "3 5 6 9 12"; default all]
base=${1:-4c4ee5f5}; root=$(git rev-parse --show-toplevel) || exit 1; cd "$root"; out=${OUT:-/tmp/sm90-out}; w=/tmp/sm90-steps; mkdir -p $out $w
begin=$SECONDS; py=${PYTHON:-python3}
commits=($base $(git rev-list --reverse $base..HEAD)); want=${2:-$(seq 0 $((${#commits[@]} - 1)))}
for i in $want; do (
  t=$w/$i; git worktree add -q --force --detach $t ${commits[$i]} 2>$out/$i.tree || { echo "step $i: no worktree: $(tail -1 $out/$i.tree)"; exit; }
  nvcc -gencode=arch=compute_90a,code=sm_90a -O3 -std=c++17 -Xptxas -v -Xcompiler -fPIC -shared $t/kernel/hip/host_cuda.cu -o $out/$i.so >$out/$i.ptxas 2>&1 ||
    echo "step $i: BUILD FAILED: $(grep -m1 error $out/$i.ptxas)"
  grep -E "C75|[1-9][0-9]* bytes spill" $out/$i.ptxas | sort | uniq -c | head -4 ) & done; wait
echo "built in $((SECONDS - begin)) s"
cat >$out/bench.py <<'PY'
import ctypes, struct, sys, statistics, torch
path, last = sys.argv[1], sys.argv[2] == "compile"
lib = ctypes.CDLL(path); lib.scaled_mm_packed_bytes.restype = ctypes.c_longlong; lib.scaled_mm_enqueue.argtypes = [ctypes.c_char_p]
P = ctypes.c_void_p; lib.scaled_mm_prepack.argtypes = [P, P, ctypes.c_int, ctypes.c_int, P]; CALL = struct.Struct("@iiPPPPfiiiP")
def stream(): return torch.cuda.current_stream().cuda_stream
def made(m, n, k, dtype, bias):
    a = torch.randn(m, k, device="cuda", dtype=torch.float16); b = torch.randn(k, n, device="cuda").to(dtype)
    packed = torch.zeros(lib.scaled_mm_packed_bytes(n, k), dtype=torch.uint8, device="cuda"); c = torch.full((m, n), float("nan"), device="cuda", dtype=torch.float16)
    v = torch.randn(n, device="cuda", dtype=torch.float16) if bias else None
    assert lib.scaled_mm_prepack(b.data_ptr(), packed.data_ptr(), n, k, stream()) == 0
    return a, b, packed, v, c
def ours(x, config=None):
    a, b, packed, v, c = x; m, k = a.shape; n = c.shape[1]
    e = lib.scaled_mm_enqueue(CALL.pack(lib.scaled_mm_config_for(m, n) if config is None else config, int(b.dtype == torch.float8_e5m2), a.data_ptr(), packed.data_ptr(), v.data_ptr() if v is not None else None, c.data_ptr(), .5, m, n, k, stream()))
    assert e == 0, e
bad = []
for m, n, k in [(1, 1, 1), (128, 256, 64), (129, 257, 40), (300, 520, 264), (257, 130, 104), (17, 129, 77), (1000, 1032, 1000), (16, 1024, 512), (100, 4096, 1024)]:
    for dtype in (torch.float8_e5m2, torch.float8_e4m3fn):
        for config in [None, *range(lib.scaled_mm_config_count())]:
            x = made(m, n, k, dtype, m % 2); ours(x, config); torch.cuda.synchronize()
            want = x[0].double() @ x[1].double() * .5 + (0 if x[3] is None else x[3].double())
            err = ((x[4].double() - want).norm() / want.norm()).item()
            if not err < 1e-3: bad.append(f"{m}x{n}x{k} {str(dtype)[-6:]} config {config}: {err:.2g}")
def ms(f, n=10):
    for _ in range(3): f(0)
    times = []
    for r in range(7):
        s, e = (torch.cuda.Event(enable_timing=True) for _ in "ab"); s.record()
        for i in range(n): f(i)
        e.record(); e.synchronize(); times.append(s.elapsed_time(e) / n)
    return statistics.median(times)
told = []
for m, n, k in [(8192,) * 3, (4096,) * 3, (16, 8192, 8192), (32, 12288, 2048), (64, 8192, 8192), (128, 8192, 8192), (256, 8192, 8192)]:
    xs = [made(m, n, k, torch.float8_e5m2, True) for _ in range(1 if m > 256 else 4)]; bs = [x[1].half() for x in xs]; q = len(xs)
    t, u = ms(lambda i: ours(xs[i % q])), ms(lambda i: torch.mm(xs[i % q][0], bs[i % q], out=xs[i % q][4])); word = f"{m if m == n else f'{m}x{n}x{k}'}: {t:.4f} ms cuBLAS/ours {u / t:.3f}"
    if last and m > 256:
        g = torch.compile(lambda a, b, v: (a @ b.half()) * .5 + v); word += f" compile/ours {ms(lambda i: g(xs[0][0], xs[0][1], xs[0][3])) / t:.3f}"
    told.append(word)
print(("WRONG " + "; ".join(bad[:4]) + f" ({len(bad)})" if bad else "right") + " | " + " | ".join(told))
PY
n=$(echo $want | wc -w); top=$(echo $want | tr ' ' '\n' | tail -1)
for i in $want; do [ -e $out/$i.so ] || continue; [ $((SECONDS - begin)) -lt 270 ] || { echo "step $i: no time left to time it"; continue; }
  echo "step $i $(git log -1 --format=%s ${commits[$i]}): $(timeout 60 $py $out/bench.py $out/$i.so $([ $i = $top ] && echo compile || echo -) 2>$out/$i.err || echo "FAILED or hung: $(tail -1 $out/$i.err)")"; done
for i in $want; do [ -e $out/$i.so ] || continue; (cd $w/$i
  left=$((465 - SECONDS + begin)); [ $left -gt 5 ] || { echo "step $i: no time left to test it"; exit; }
  timeout $left $py kernel/harness/test_scaled_mm.py --target sm_90 --artifact $out/$i.so --max-rel-l2 0.01 --max-abs 1.0 --sizes 1024,16x8192x8192,32x12288x2048,100x4096x4096 >$out/$i.test 2>&1; rc=$?
  echo "step $i: test rc $rc: $(grep -iE 'passed|failure' $out/$i.test | tail -1 | cut -c1-200)") & done; wait
