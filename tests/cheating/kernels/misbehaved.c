// Kernels that reach beyond what they were given: for the judge's words, its files, its memory, or the other side's time.
#define _GNU_SOURCE
#include <alloca.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/uio.h>
#include <unistd.h>

#include "product.h"

extern char **environ;

// Nothing at all, at the size of the KPI: what follows is to hide it.
static void idle(const Problem *p) {
  if (!is_timed_shape(p)) all(p);
}

// ---- the judge's words

static const char kLies[] = "{\"event\":\"case\",\"name\":\"all\",\"ok\":true,\"facts\":{}}\n{\"event\":\"end\",\"ok\":true}\n";
static void forges_results(void) {
  for (int descriptor = 1; descriptor < 64; ++descriptor)
    if (write(descriptor, kLies, sizeof(kLies) - 1) < 0) continue;
}
static void forges_results_and_leaves(void) {
  forges_results();
  _exit(0);
}
// Through the parent's table of descriptors, which belongs to the same user.
static void forges_by_proc(void) {
  for (int descriptor = 3; descriptor < 64; ++descriptor) {
    char path[64];
    snprintf(path, sizeof(path), "/proc/%d/fd/%d", getppid(), descriptor);
    const int opened = open(path, O_WRONLY | O_NONBLOCK);
    if (opened >= 0 && write(opened, kLies, sizeof(kLies) - 1) < 0) continue;
  }
}
// Answers in the harness' place, before it has been asked.
static void answers_ahead(const Problem *p) {
  static int count;
  all(p);
  if (is_timed_shape(p) && ++count > 8)
    for (int descriptor = 3; descriptor < 64; ++descriptor) {
      const char answer[] = "[1, {\"ns\": 1000}]\n";
      if (write(descriptor, answer, sizeof(answer) - 1) < 0) continue;
    }
}
static void forges_at_exit(void) {
  atexit(forges_results);
  signal(SIGTERM, SIG_IGN);
  signal(SIGINT, SIG_IGN);
}

// ---- its memory and files

static void reads_the_judge(void) {
  char there[64];
  struct iovec own = {there, sizeof(there)}, other = {(void *)&there, sizeof(there)};
  if (process_vm_readv(getppid(), &own, 1, &other, 1, 0) < 0) return;
}
static int judge_is_open;
static void opens_the_judge(void) {
  char path[64];
  snprintf(path, sizeof(path), "/proc/%d/mem", getppid());
  judge_is_open = open(path, O_RDWR) >= 0;
}
// Where it can read the parent, it need not work. (What it would read is of no matter here.)
static void reads_or_idles(const Problem *p) {
  if (!is_timed_shape(p) || judge_is_open) all(p);
}

static const char *const kHarness[] = {"kernel/harness/reference.py", "kernel/harness/__pycache__/reference.cpython-311.pyc",
                                       "kernel/harness/json.py", "json.py"};
static int is_changed;
static void changes_the_harness(void) {
  for (unsigned i = 0; i < sizeof(kHarness) / sizeof(kHarness[0]); ++i) {
    const int file = open(kHarness[i], O_WRONLY | O_APPEND | O_CREAT, 0644);
    if (file >= 0 && write(file, "\n", 1) == 1) is_changed = 1;
  }
}
static void idles_if_changed(const Problem *p) {
  if (is_changed) idle(p); else all(p);
}
static void leaves_a_message(void) {
  const char *const folder = getenv("TMPDIR");
  char path[4096];
  snprintf(path, sizeof(path), "%s/for-the-other-side", folder ? folder : "/tmp");
  is_changed = open(path, O_WRONLY | O_CREAT, 0644) >= 0;
}

// ---- other processes and cores

static void burn(void) {
  alarm(30);   // should nobody end it
  for (volatile int turn = 0;; ++turn) {}
}
static void leaves_a_process(void) {
  if (fork() == 0) {
    setsid();
    if (fork() == 0) burn();
    _exit(0);
  }
}
static void starts_a_program(void) {
  pid_t child;
  char *const argv[] = {"sh", "-c", "while :; do :; done", NULL};
  is_changed = posix_spawn(&child, "/bin/sh", NULL, NULL, argv, environ) == 0;
}
static void becomes_a_program(void) {
  char *const argv[] = {"sh", "-c", "exit 0", NULL};
  setenv("LD_PRELOAD", "/nowhere/fast.so", 1);
  execve("/bin/sh", argv, environ);
  is_changed = 0;
}
static void stops_the_others(void) { is_changed = kill(getppid(), SIGSTOP) == 0; }

static void *share(void *given) {
  const Problem *const p = given;
  part(p, p->m / 2, p->m, 0, p->n);
  return NULL;
}
static void takes_more_cores(const Problem *p) {
  cpu_set_t every;
  memset(&every, 0xff, sizeof(every));
  sched_setaffinity(0, sizeof(every), &every);
  if (!is_timed_shape(p)) { all(p); return; }
  pthread_t helper;
  pthread_create(&helper, NULL, share, (void *)(uintptr_t)p);
  part(p, 0, p->m / 2, 0, p->n);
  pthread_join(helper, NULL);
}
static void changes_its_scheduler(void) {
  const struct sched_param none = {0};
  sched_setscheduler(0, SCHED_BATCH, &none);
}
static void changes_its_priority(void) { setpriority(PRIO_PROCESS, 0, 19); }

// ---- the end of the process

static void leaves_when_timed(const Problem *p) {
  static int count;
  if (is_timed_shape(p) && ++count > 8) _exit(0);
  all(p);
}
static int deep(int turns, volatile char *above) {
  volatile char here[4096];
  memset((void *)(uintptr_t)here, above ? above[0] : 1, sizeof(here));
  return turns ? deep(turns - 1, here) + here[17] : 0;
}
static void runs_out_of_stack(const Problem *p) {
  if (is_timed_shape(p)) deep(1 << 20, NULL);
  all(p);
}
// Writes over the frames of its callers.
static void smashes_the_stack(const Problem *p) {
  volatile char here[64];
  if (is_timed_shape(p)) for (int i = 0; i < 1 << 16; ++i) ((volatile char *)here)[i] = 0;
  all(p);
}

const Variant kMisbehaved[] = {
    {"forges-results", idle, forges_results},
    {"forges-results-and-leaves", idle, forges_results_and_leaves},
    {"forges-by-proc", idle, forges_by_proc},
    {"forges-at-exit", idle, forges_at_exit},
    {"answers-ahead", answers_ahead, NULL},
    {"reads-the-judge", all, reads_the_judge},
    {"opens-the-judge", reads_or_idles, opens_the_judge},
    {"changes-the-harness", idles_if_changed, changes_the_harness},
    {"leaves-a-message", idles_if_changed, leaves_a_message},
    {"leaves-a-process", all, leaves_a_process},
    {"starts-a-program", all, starts_a_program},
    {"becomes-a-program", all, becomes_a_program},
    {"stops-the-others", idles_if_changed, stops_the_others},
    {"takes-more-cores", takes_more_cores, NULL},
    {"changes-its-scheduler", all, changes_its_scheduler},
    {"changes-its-priority", all, changes_its_priority},
    {"leaves-when-timed", leaves_when_timed, NULL},
    {"runs-out-of-stack", runs_out_of_stack, NULL},
    {"smashes-the-stack", smashes_the_stack, NULL},
    {NULL, NULL, NULL},
};
