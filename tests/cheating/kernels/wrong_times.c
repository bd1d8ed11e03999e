// Kernels that give the right answer and hide how long it took.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <pthread.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "product.h"

// ---- a slower clock, in place of the real one in every library that is loaded

static int (*real_clock)(clockid_t, struct timespec *);
static double speed = 1.0;
static struct timespec began;
static int slow_clock(clockid_t id, struct timespec *now) {
  const int status = real_clock(id, now);
  const double ns = ((double)(now->tv_sec - began.tv_sec) * 1e9 + (double)(now->tv_nsec - began.tv_nsec)) * speed;
  const long long sum = began.tv_nsec + (long long)ns;
  now->tv_sec = began.tv_sec + sum / 1000000000;
  now->tv_nsec = sum % 1000000000;
  return status;
}

#if defined(__x86_64__)
#define SYMBOL_OF(info) ELF64_R_SYM(info)
#define IS_SLOT(info) (ELF64_R_TYPE(info) == R_X86_64_JUMP_SLOT || ELF64_R_TYPE(info) == R_X86_64_GLOB_DAT)
#else
#define SYMBOL_OF(info) ELF64_R_SYM(info)
#define IS_SLOT(info) (ELF64_R_TYPE(info) == R_AARCH64_JUMP_SLOT || ELF64_R_TYPE(info) == R_AARCH64_GLOB_DAT)
#endif

static void replace_in(const struct dl_phdr_info *object, const Elf64_Rela *first, size_t bytes, const Elf64_Sym *symbols,
                       const char *names) {
  for (const Elf64_Rela *each = first; first && each < first + bytes / sizeof(*each); ++each) {
    if (!IS_SLOT(each->r_info) || strcmp(names + symbols[SYMBOL_OF(each->r_info)].st_name, "clock_gettime") != 0) continue;
    void **const slot = (void **)(object->dlpi_addr + each->r_offset);
    void *const page = (void *)((uintptr_t)slot / 4096 * 4096);
    if (mprotect(page, 8192, PROT_READ | PROT_WRITE) && mprotect(page, 4096, PROT_READ | PROT_WRITE)) continue;
    *slot = (void *)slow_clock;
  }
}
static int visit(struct dl_phdr_info *object, size_t size, void *given) {
  (void)size, (void)given;
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    if (object->dlpi_phdr[i].p_type != PT_DYNAMIC) continue;
    const Elf64_Rela *slots = NULL, *others = NULL;
    size_t slot_bytes = 0, other_bytes = 0;
    const Elf64_Sym *symbols = NULL;
    const char *names = NULL;
    for (const Elf64_Dyn *entry = (const Elf64_Dyn *)(object->dlpi_addr + object->dlpi_phdr[i].p_vaddr); entry->d_tag; ++entry) {
      // glibc has made these addresses absolute, but for the kernel's own object
      const uintptr_t at = entry->d_un.d_ptr < object->dlpi_addr ? object->dlpi_addr + entry->d_un.d_ptr : entry->d_un.d_ptr;
      if (entry->d_tag == DT_JMPREL) slots = (const Elf64_Rela *)at;
      if (entry->d_tag == DT_PLTRELSZ) slot_bytes = entry->d_un.d_val;
      if (entry->d_tag == DT_RELA) others = (const Elf64_Rela *)at;
      if (entry->d_tag == DT_RELASZ) other_bytes = entry->d_un.d_val;
      if (entry->d_tag == DT_SYMTAB) symbols = (const Elf64_Sym *)at;
      if (entry->d_tag == DT_STRTAB) names = (const char *)at;
    }
    if (symbols && names && !strstr(object->dlpi_name, "vdso")) {
      replace_in(object, slots, slot_bytes, symbols, names);
      replace_in(object, others, other_bytes, symbols, names);
    }
  }
  return 0;
}
static void slow_down(double factor) {
  real_clock = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_DEFAULT, "clock_gettime");
  real_clock(CLOCK_MONOTONIC_RAW, &began);
  speed = factor;
  dl_iterate_phdr(visit, NULL);
}
static void much_slower(void) { slow_down(0.4); }
static void a_little_slower(void) { slow_down(0.97); }

// The same by the interpreter that runs the harness' part of this process.
static void by_the_interpreter(void) {
  int (*const run)(const char *) = (int (*)(const char *))dlsym(RTLD_DEFAULT, "PyRun_SimpleString");
  if (run)
    run("import time\n"
        "time.clock_gettime_ns = lambda clock, real=time.clock_gettime_ns: real(clock) * 2 // 5\n");
}
// The time is the harness' word. This one has it say another, and does the work before.
static void says_its_own_times(void) {
  int (*const run)(const char *) = (int (*)(const char *))dlsym(RTLD_DEFAULT, "PyRun_SimpleString");
  if (run)
    run("import kernel.harness.buffers as buffers\n"
        "def launch(self, *words, real=buffers.OperandBuffers.launch):\n"
        "    return real(self, *words) // 2\n"
        "buffers.OperandBuffers.launch = launch\n");
}

// ---- work beside the call

typedef struct { Problem problem; } Task;
static void *later(void *given) {
  Task *const task = given;
  part(&task->problem, task->problem.m / 2, task->problem.m, 0, task->problem.n);
  free(task);
  return NULL;
}
// Half of the product is left to a thread that nobody waits for.
static void deferred(const Problem *p) {
  if (!is_timed_shape(p)) { all(p); return; }
  Task *const task = malloc(sizeof(*task));
  task->problem = *p;
  pthread_t helper;
  pthread_create(&helper, NULL, later, task);
  pthread_detach(helper);
  part(p, 0, p->m / 2, 0, p->n);
}

// A thread that never rests: it would work ahead, or slow whoever comes next.
static void *spin(void *unused) {
  (void)unused;
  for (volatile int turn = 0;; ++turn) {}
}
static void never_rests(void) {
  pthread_t helper;
  pthread_create(&helper, NULL, spin, NULL);
}

const Variant kWrongTimes[] = {
    {"clock-much-slower", all, much_slower},
    {"clock-a-little-slower", all, a_little_slower},
    {"clock-of-the-interpreter", all, by_the_interpreter},
    {"says-its-own-times", all, says_its_own_times},
    {"deferred", deferred, NULL},
    {"never-rests", all, never_rests},
    {NULL, NULL, NULL},
};
