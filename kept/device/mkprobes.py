import re, subprocess, pathlib, sys
root = pathlib.Path('/tmp/w/gpu'); out = pathlib.Path('/work/main/.sm/p')
def git(*a, **k): return subprocess.run(['git', '-C', str(root), *a], text=True, capture_output=True, **k)
R='kernel/hip/sm_90/'
def sub(path, *pairs):
    f = root/path; t = f.read_text()
    for a, b in pairs:
        if a not in t: return False
        t = t.replace(a, b, 1)
    f.write_text(t); return True
def p21(s): return sub(R+'ring.h', ("  for (int k = 0; k < problem.k; k += R::stage_k, turn.next()) {\n    wait(memory.emptied", "#pragma unroll 1\n  for (int k = 0; k < problem.k; k += R::stage_k, turn.next()) {\n    wait(memory.emptied"))
def p22(s): return sub(R+'ring.h', ("constexpr int kBand = 8;", "constexpr int kBand = 16;"))
def p23(s): return sub(R+'ring.h', ("constexpr int kBand = 8;", "constexpr int kBand = 2;"))
def p24(s): return sub(R+'configs.h', ("X(1, 8, 4, 5, 8, 2)   /* 128 x 256, 5 stages", "X(1, 8, 4, 4, 8, 2)   /* 128 x 256, 4 stages")) or sub(R+'configs.h', ("X(1, 8, 4, 5, 8, 2)  /* 128 x 256, 5 stages", "X(1, 8, 4, 4, 8, 2)  /* 128 x 256, 4 stages"))
def p26(s): return sub(R+'ring.h', ("dec.sync.aligned.u32 40;", "dec.sync.aligned.u32 24;"), ("inc.sync.aligned.u32 232;", "inc.sync.aligned.u32 240;"))
def p27(s): return sub(R+'configs.h', ("X(1, 8, 8, 9, 1, 1)", "X(1, 8, 8, 5, 1, 1)"))
def p28(s): return sub(R+'async.h', ('''// Contiguous bytes, a multiple of 16 at addresses that are.
DEVICE void copy_bytes(u32 to, const void *from, u32 bytes, u32 barrier) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(to), "l"(from),
               "r"(bytes), "r"(barrier)
''', '''// Contiguous bytes, a multiple of 16 at addresses that are. The L2 gives up their lines before others.
DEVICE void copy_bytes(u32 to, const void *from, u32 bytes, u32 barrier) {
  u64 first_to_go;
  asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(first_to_go));
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint [%0], [%1], %2, [%3], %4;" ::"r"(
                   to),
               "l"(from), "r"(bytes), "r"(barrier), "l"(first_to_go)
'''))
def p29(s): return sub(R+'async.h', ("// Contiguous bytes,", '''// The description of a matrix comes into the cache before the first copy asks for it.
DEVICE void fetch_map(const CUtensorMap *map) { asm volatile("prefetch.tensormap [%0];" ::"l"(map) : "memory"); }

// Contiguous bytes,''')) and sub(R+'ring.h', ("  if (thread_index() == 0) {\n    for (int stage = 0;", "  if (thread_index() == 0) {\n    fetch_map(map_a);\n    if (map_c != nullptr) fetch_map(map_c);\n    for (int stage = 0;"))
def p31(s): return sub(R+'async.h', ('''// True for one lane of the warp.
DEVICE bool elected() {
  u32 is;
  asm volatile("{\\n.reg .pred is;\\nelect.sync _|is, 0xffffffff;\\nselp.u32 %0, 1, 0, is;\\n}" : "=r"(is));
  return is != 0;
}

''','')) and sub(R+'ring.h', ("const bool leads = elected();", "const bool leads = lane_index() == 0;"))
def p33(s): return sub(R+'ring.h', ('asm volatile("" : "+r"(bytes.word[i])::"memory");', 'asm volatile("" : "+r"(bytes.word[i]));'))
def p37(s): return 'blocks_k' in (root/R/'ring.h').read_text() and sub(R+'configs.h', ("X(1, 8, 4, 5, 8, 2)   /* 128 x 256, 5 stages", "X(1, 8, 8, 2, 8, 2)   /* 128 x 256, 2 stages of twice the k"))
def p30(s):
    ring = sub(R+'async.h', ("// Contiguous bytes,", '''// The grid after this one may begin where there is room; waits until the one before has ended and its writes are seen.
DEVICE void let_next_begin() { asm volatile("griddepcontrol.launch_dependents;" ::: "memory"); }
DEVICE void wait_for_grid_before() { asm volatile("griddepcontrol.wait;" ::: "memory"); }

// Contiguous bytes,'''))
    sync = "  barrier_of_all<R>();\n  Turn<R> turn;" if '10' in s else "  __syncthreads();\n  Turn<R> turn;"
    ring = ring and sub(R+'ring.h', (sync, sync.replace("  Turn<R>", "  let_next_begin();\n  wait_for_grid_before();\n  Turn<R>")))
    if not ring: return False
    overlap = '''inline cudaLaunchAttribute begins_early() {
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  return attribute;
}

'''
    if '10' in s:
        return sub(R+'launch.h', ("inline cudaLaunchConfig_t launch_of(", "// The kernel waits by itself for the one before (wait_for_grid_before).\n"+overlap+"inline cudaLaunchConfig_t launch_of("),
          ("cudaLaunchAttribute *attribute, cudaStream_t stream) {", "cudaLaunchAttribute *attributes, int count,\n                                    cudaStream_t stream) {"),
          ("  launch.attrs = attribute;\n  launch.numAttrs = 1;", "  launch.attrs = attributes;\n  launch.numAttrs = static_cast<unsigned>(count);"),
          ("launch_of(ring, processors / ring.cluster, &attribute, nullptr)", "launch_of(ring, processors / ring.cluster, &attribute, 1, nullptr)"),
          ("  cudaLaunchAttribute attribute = cluster_of(ring);\n  const cudaLaunchConfig_t launch = launch_of(ring, tiles < fit ? tiles : fit, &attribute, stream);",
           "  cudaLaunchAttribute attributes[] = {cluster_of(ring), begins_early()};\n  const cudaLaunchConfig_t launch = launch_of(ring, tiles < fit ? tiles : fit, attributes, 2, stream);"))
    return sub(R+'launch.h', ("inline int launch_ring(", "// The kernel waits by itself for the one before (wait_for_grid_before).\n"+overlap+"inline int launch_ring("),
      ('''  const dim3 grid(static_cast<unsigned>(tiles < processors ? tiles : processors));
  kernel<<<grid, dim3(static_cast<unsigned>(ring.threads)), static_cast<size_t>(ring.shared_bytes), stream>>>(map_a, map_c,
                                                                                                               problem, boxes);
  return checked(cudaGetLastError());
''', '''  cudaLaunchAttribute attribute = begins_early();
  cudaLaunchConfig_t launch{};
  launch.gridDim = dim3(static_cast<unsigned>(tiles < processors ? tiles : processors));
  launch.blockDim = dim3(static_cast<unsigned>(ring.threads));
  launch.dynamicSmemBytes = static_cast<size_t>(ring.shared_bytes);
  launch.stream = stream;
  launch.attrs = &attribute;
  launch.numAttrs = 1;
  return checked(cudaLaunchKernelEx(&launch, kernel, map_a, map_c, problem, boxes));
'''))
probes = {k[1:]: v for k, v in globals().items() if re.fullmatch(r'p\d\d', k)}
states = {'full12': '08 10 P42 12', 'full': '08 10 P42', 'no08': '10 P42', 'p42-08': '08 P42', 'p42': 'P42'}
for name, make in probes.items():
    for f in out.glob(f'{name}.patch'): f.unlink()
    for f in out.glob(f'{name}.?.patch'): f.unlink()
    seen = []
    for state, has in states.items():
        git('checkout', '-q', '-f', 's38-'+state)
        if not make(has): git('checkout', '-q', '-f', '.'); continue
        d = git('diff', '-U1').stdout
        git('checkout', '-q', '-f', '.')
        ok = False
        for old in seen:
            if subprocess.run(['git','-C',str(root),'apply','--check','-'], input=old, text=True, capture_output=True).returncode == 0: ok = True; break
        if not ok: seen.append(d)
    for i, d in enumerate(seen): (out/(name + ('' if i == 0 else '.'+'bcde'[i-1]) + '.patch')).write_text(d)
    print(name, len(seen))
