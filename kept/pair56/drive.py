import subprocess, sys, time, os, signal
def alive(mark):
    out = []
    for p in os.listdir("/proc"):
        if p.isdigit():
            try:
                c = open(f"/proc/{p}/cmdline", "rb").read(); s = open(f"/proc/{p}/stat").read().rsplit(")",1)[1].split()[0]
            except OSError: continue
            if mark.encode() in c and s not in "ZX": out.append(p)
    return out
def case(respawn, mode, sleep_s, timeout_s, signals, limit):
    p = subprocess.Popen([sys.executable, "/tmp/w/t/ctrlc.py", str(respawn), mode, str(sleep_s), str(timeout_s)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd="/tmp/w/rev")
    t = p.stdout.readline().split()[1]
    want = 2 if respawn > 1 else 1
    while len([f for f in os.listdir(t) if f in ("baseline", "candidate")]) < want: time.sleep(.05)
    time.sleep(.5)
    mark = f"ctrlc-{p.pid}"
    print(f"--- respawn={respawn} mode={mode} workers sleep {sleep_s} limit {timeout_s}; signals {signals}; alive before {len(alive(mark))}")
    t0 = time.monotonic()
    for n, wait in signals:
        p.send_signal(n); time.sleep(wait)
    try:
        out, _ = p.communicate(timeout=limit)
    except subprocess.TimeoutExpired:
        print(f"    STILL RUNNING {time.monotonic()-t0:.1f} s after the first signal; alive {len(alive(mark))}"); p.kill(); out = p.communicate()[0]
    took = time.monotonic()-t0
    time.sleep(.5)
    print(f"    ended {took:.1f} s after first signal, rc {p.returncode}; alive {len(alive(mark))}\n    " + out.strip().replace("\n", "\n    ")[-1500:])
I, T, K = signal.SIGINT, signal.SIGTERM, signal.SIGKILL
for name in sys.argv[1:]:
    if name == "ints": 
        for r in (1, 2): case(r, "full", 12, 60, [(I, .3), (I, 0)], 40)
    if name == "term":
        for r in (1, 2): case(r, "full", 12, 15, [(T, 0)], 40)
    if name == "three": case(2, "full", 30, 60, [(I, .3), (I, 1.5), (I, 0)], 50)
    if name == "hang": case(2, "full", 300, 20, [(I, .3), (I, 0)], 50)
    if name == "kill":
        for m in ("full", "nogroup", "nopid", "nogroup,nopid"): case(2, m, 30, 60, [(K, 0)], 10)
