/* Preloaded into the runner and into every git that it starts: counts the calls that can change something, and at the
 * k-th does what the plan says: kills, signals, fails, or writes short. With a log it also notes every change of a file,
 * so that a power cut can be played back (disk.py).
 *
 * A kill at a call that changes nothing leaves the same disk as a kill at the next one that does, so that these calls reach
 * every state. The plan lies in shared memory (shim.py has the same layout); without FAULTS_PLAN nothing is touched.
 */
#define _GNU_SOURCE
#undef _FORTIFY_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sendfile.h>
#include <sys/file.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum { WRITE = 1, SYNC = 2, NAME = 4, CREATE = 8, OPEN = 16, PROCESS = 32 };
enum { COUNT, KILL_RUNNER, KILL_SELF, KILL_BOTH, SIGNAL_RUNNER, FAIL_ONCE, FAIL_FROM, SHORT_ONCE, SHORT_FROM };
enum { REMOVES = -2 }; /* bytes of a call that needs none, however full the disk is */
enum { BY_RUNNER = 1, BY_CHILDREN = 2 };

struct plan {
	int64_t runner;       /* pid; 0 until it has armed itself */
	_Atomic uint64_t calls;
	uint64_t at;          /* the first call is 1 */
	int32_t action, number; /* number: the signal or the errno */
	int32_t by, kinds;
	_Atomic int64_t budget; /* bytes that a full disk has left: what the reserve gave back */
	_Atomic int32_t fired;
	int32_t logs;
	int64_t clock_shift_s;  /* added to the time of day once the plan has fired */
	char below[256];      /* files elsewhere are nobody's business */
	char only[64];        /* of those, only paths that hold this; empty: all */
	char log[256];
};

static struct plan *plan;
static int log_fd = -1;
static __thread int inside;

#define REAL(name) ({ static __typeof__(&name) real; if (!real) real = (__typeof__(&name))dlsym(RTLD_NEXT, #name); real; })

void faults_arm(const char *path, int as_runner)
{
	int fd = REAL(open)(path, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return;
	plan = mmap(NULL, sizeof *plan, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	REAL(close)(fd);
	if (plan == MAP_FAILED) {
		plan = NULL;
		return;
	}
	if (as_runner)
		plan->runner = getpid();
}

__attribute__((constructor)) static void begin(void)
{
	const char *path = getenv("FAULTS_PLAN");
	if (path)
		faults_arm(path, 0);
}

/* The path of an open regular file, or an empty string. */
static void path_of(int fd, char *path)
{
	char link[64];
	struct stat facts;
	path[0] = 0;
	if (fstat(fd, &facts) || !S_ISREG(facts.st_mode))
		return;
	snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
	ssize_t n = readlink(link, path, PATH_MAX - 1);
	path[n > 0 ? n : 0] = 0;
}

static void absolute(int dir, const char *path, char *out)
{
	char link[64];
	if (path[0] == '/') {
		snprintf(out, PATH_MAX, "%s", path);
		return;
	}
	if (dir == AT_FDCWD)
		snprintf(link, sizeof link, "/proc/self/cwd");
	else
		snprintf(link, sizeof link, "/proc/self/fd/%d", dir);
	ssize_t n = readlink(link, out, PATH_MAX - 1);
	n = n > 0 ? n : 0;
	while (path[0] == '.' && path[1] == '/')
		path += 2;
	snprintf(out + n, PATH_MAX - n, "/%s", path);
}

static int concerns(const char *path)
{
	return !strncmp(path, plan->below, strlen(plan->below)) && (!plan->only[0] || strstr(path, plan->only));
}

/* 0: go on. Otherwise an errno, or -1: write only half. */
static int fault(int kind, const char *path, int64_t bytes)
{
	if (!plan || !plan->runner || !(plan->kinds & kind))
		return 0;
	int mine = getpid() == plan->runner ? BY_RUNNER : BY_CHILDREN;
	if (!(plan->by & mine) || (path && !concerns(path)))
		return 0;
	if (!path && (plan->only[0] || (plan->action >= FAIL_ONCE && kind & (WRITE | SYNC | NAME))))
		return 0; /* a pipe is never full, and has no name */
	if (plan->number == ENOSPC && plan->action >= FAIL_ONCE && bytes == REMOVES)
		return 0;
	uint64_t now = ++plan->calls;
	if (!plan->at || now < plan->at)
		return 0;
	int first = now == plan->at;
	if (first)
		plan->fired = 1;
	if (plan->number == ENOSPC && kind == WRITE && first && bytes > 1) {
		plan->at++; /* a disk that fills up takes a part first */
		return -1;
	}
	switch (plan->action) {
	case KILL_RUNNER:
	case KILL_BOTH:
		if (first)
			kill((pid_t)plan->runner, SIGKILL);
		if (first && plan->action == KILL_BOTH)
			kill(getpid(), SIGKILL);
		return 0;
	case KILL_SELF:
		if (first)
			kill(getpid(), SIGKILL);
		return 0;
	case SIGNAL_RUNNER:
		if (first)
			kill((pid_t)plan->runner, plan->number);
		return 0;
	case FAIL_ONCE:
		return first ? plan->number : 0;
	case FAIL_FROM:
		if (plan->budget >= bytes && bytes >= 0 && plan->budget > 0) {
			plan->budget -= bytes;
			return 0;
		}
		return plan->number;
	case SHORT_ONCE:
		return first && kind == WRITE ? -1 : 0;
	case SHORT_FROM:
		return kind == WRITE ? -1 : 0;
	}
	return 0;
}

/* ---- the log of a power cut: kind, inode, offset, length, two texts, in one write each */

struct entry { uint32_t kind, first, second, mode; uint64_t inode, offset; };

static void note(char kind, uint64_t inode, uint64_t offset, uint32_t mode, const void *one, size_t one_size, const void *two, size_t two_size)
{
	struct entry head = { (uint32_t)kind, (uint32_t)one_size, (uint32_t)two_size, mode, inode, offset };
	struct iovec parts[] = { { &head, sizeof head }, { (void *)one, one_size }, { (void *)two, two_size } };
	if (log_fd < 0)
		log_fd = REAL(open)(plan->log, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
	if (REAL(writev)(log_fd, parts, 3) < 0)
		abort();
}

static int logs(const char *path)
{
	return plan && plan->logs && plan->runner && !inside && !strncmp(path, plan->below, strlen(plan->below));
}

static void note_names(char kind, const char *one, const char *two)
{
	int was = errno;
	struct stat facts;
	if (logs(one)) {
		int there = !lstat(two[0] && kind != 'S' ? two : one, &facts);
		note(kind, there ? facts.st_ino : 0, 0, there ? facts.st_mode : 0, one, strlen(one), two, strlen(two));
	}
	errno = was;
}

static void note_written(int fd, const char *path, uint64_t offset, const void *bytes, size_t size)
{
	int was = errno;
	struct stat facts;
	if (size && logs(path) && !fstat(fd, &facts))
		note('w', facts.st_ino, offset, 0, bytes, size, path, strlen(path));
	errno = was;
}

static void note_inode(char kind, int fd, const char *path, uint64_t length)
{
	int was = errno;
	struct stat facts;
	if (logs(path) && !fstat(fd, &facts))
		note(kind, facts.st_ino, length, facts.st_mode, "", 0, path, strlen(path));
	errno = was;
}

#define FAILS(kind, path, bytes) do { int e_ = fault(kind, path, bytes); if (e_ > 0) { errno = e_; return -1; } } while (0)

/* ---- contents */

static ssize_t written(int fd, const void *bytes, size_t size, off_t at, int positioned)
{
	char path[PATH_MAX] = "";
	if (plan && plan->runner)
		path_of(fd, path);
	int answer = fault(WRITE, path[0] ? path : NULL, (int64_t)size);
	if (answer > 0) {
		errno = answer;
		return -1;
	}
	if (answer < 0 && size > 1)
		size /= 2;
	ssize_t n = positioned ? REAL(pwrite64)(fd, bytes, size, at) : REAL(write)(fd, bytes, size);
	if (n > 0 && path[0])
		note_written(fd, path, positioned ? (uint64_t)at : (uint64_t)(lseek(fd, 0, SEEK_CUR) - n), bytes, (size_t)n);
	return n;
}

ssize_t write(int fd, const void *bytes, size_t size) { return written(fd, bytes, size, 0, 0); }
ssize_t pwrite(int fd, const void *bytes, size_t size, off_t at) { return written(fd, bytes, size, at, 1); }
ssize_t pwrite64(int fd, const void *bytes, size_t size, off64_t at) { return written(fd, bytes, size, at, 1); }

static ssize_t copied(int out, int in, size_t size, ssize_t n, const char *path)
{
	(void)in;
	if (n > 0 && logs(path)) {
		char *bytes = malloc((size_t)n), link[64];
		off_t end = lseek(out, 0, SEEK_CUR);
		snprintf(link, sizeof link, "/proc/self/fd/%d", out);
		int reading = REAL(open)(link, O_RDONLY | O_CLOEXEC);
		if (bytes && reading >= 0 && pread(reading, bytes, (size_t)n, end - n) == n)
			note_written(out, path, (uint64_t)(end - n), bytes, (size_t)n);
		REAL(close)(reading);
		free(bytes);
	}
	(void)size;
	return n;
}

ssize_t sendfile64(int out, int in, off64_t *offset, size_t size)
{
	char path[PATH_MAX] = "";
	if (plan && plan->runner)
		path_of(out, path);
	FAILS(WRITE, path[0] ? path : NULL, (int64_t)size);
	return copied(out, in, size, REAL(sendfile64)(out, in, offset, size), path);
}
ssize_t sendfile(int out, int in, off_t *offset, size_t size) { return sendfile64(out, in, offset, size); }

int ftruncate64(int fd, off64_t length)
{
	char path[PATH_MAX] = "";
	if (plan && plan->runner)
		path_of(fd, path);
	FAILS(WRITE, path[0] ? path : NULL, 0);
	int status = REAL(ftruncate64)(fd, length);
	if (!status)
		note_inode('t', fd, path, (uint64_t)length);
	return status;
}
int ftruncate(int fd, off_t length) { return ftruncate64(fd, length); }

static int synced(int fd, int data_only)
{
	char path[PATH_MAX] = "", link[64];
	if (plan && plan->runner) {
		snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
		ssize_t n = readlink(link, path, sizeof path - 1);
		path[n > 0 ? n : 0] = 0;
	}
	FAILS(SYNC, path[0] == '/' ? path : NULL, 0);
	int status = data_only ? REAL(fdatasync)(fd) : REAL(fsync)(fd);
	if (!status)
		note_inode('f', fd, path, 0);
	return status;
}
int fsync(int fd) { return synced(fd, 0); }
int fdatasync(int fd) { return synced(fd, 1); }

/* ---- names */

static int opened(int dir, const char *name, int flags, mode_t mode)
{
	if (!plan || !plan->runner)
		return REAL(openat64)(dir, name, flags, mode);
	char path[PATH_MAX];
	struct stat facts;
	absolute(dir, name, path);
	int changes = (flags & (O_CREAT | O_TRUNC)) || (flags & O_ACCMODE) != O_RDONLY;
	int was_there = !lstat(path, &facts);
	FAILS(changes ? CREATE : OPEN, path, 0);
	int fd = REAL(openat64)(dir, name, flags, mode);
	if (fd >= 0 && changes && (flags & O_TMPFILE) != O_TMPFILE) {
		if (!was_there)
			note_inode('c', fd, path, 0);
		else if (flags & O_TRUNC)
			note_inode('t', fd, path, 0);
	}
	return fd;
}

#define MODE(flags) ({ mode_t m_ = 0; if ((flags) & (O_CREAT | O_TMPFILE)) { va_list l_; va_start(l_, flags); m_ = (mode_t)va_arg(l_, int); va_end(l_); } m_; })
int open(const char *name, int flags, ...) { return opened(AT_FDCWD, name, flags, MODE(flags)); }
int open64(const char *name, int flags, ...) { return opened(AT_FDCWD, name, flags, MODE(flags)); }
int openat(int dir, const char *name, int flags, ...) { return opened(dir, name, flags, MODE(flags)); }
int openat64(int dir, const char *name, int flags, ...) { return opened(dir, name, flags, MODE(flags)); }
int __open_2(const char *name, int flags) { return opened(AT_FDCWD, name, flags, 0); }
int __open64_2(const char *name, int flags) { return opened(AT_FDCWD, name, flags, 0); }
int __openat_2(int dir, const char *name, int flags) { return opened(dir, name, flags, 0); }
int __openat64_2(int dir, const char *name, int flags) { return opened(dir, name, flags, 0); }
int creat(const char *name, mode_t mode) { return opened(AT_FDCWD, name, O_CREAT | O_WRONLY | O_TRUNC, mode); }
int creat64(const char *name, mode_t mode) { return opened(AT_FDCWD, name, O_CREAT | O_WRONLY | O_TRUNC, mode); }

static int named(char kind, int one_dir, const char *one, int two_dir, const char *two, int64_t bytes, int (*act)(int, const char *, int, const char *))
{
	char first[PATH_MAX] = "", second[PATH_MAX] = "";
	if (plan && plan->runner) {
		if (kind == 'S')
			snprintf(first, sizeof first, "%s", one);
		else
			absolute(one_dir, one, first);
		if (two)
			absolute(two_dir, two, second);
		FAILS(NAME, kind == 'S' ? second : first, bytes);
	}
	int64_t freed = 0;
	struct stat facts;
	if (kind == 'u' && plan && !lstat(one, &facts) && strstr(one, "reserve"))
		freed = facts.st_size;
	int status = act(one_dir, one, two_dir, two);
	if (!status && freed)
		plan->budget += freed;
	if (!status && plan && plan->runner) {
		if (kind == 'S')
			note_names('S', second, first);
		else
			note_names(kind, first, second);
	}
	return status;
}

static int do_rename(int a, const char *one, int b, const char *two) { return REAL(renameat)(a, one, b, two); }
static int do_link(int a, const char *one, int b, const char *two) { return REAL(linkat)(a, one, b, two, 0); }
static int do_unlink(int a, const char *one, int b, const char *two) { (void)b; (void)two; return REAL(unlinkat)(a, one, 0); }
static int do_rmdir(int a, const char *one, int b, const char *two) { (void)b; (void)two; return REAL(unlinkat)(a, one, AT_REMOVEDIR); }
static int do_symlink(int a, const char *one, int b, const char *two) { (void)a; return REAL(symlinkat)(one, b, two); }
static __thread mode_t mkdir_mode;
static int do_mkdir(int a, const char *one, int b, const char *two) { (void)b; (void)two; return REAL(mkdirat)(a, one, mkdir_mode); }

int rename(const char *one, const char *two) { return named('r', AT_FDCWD, one, AT_FDCWD, two, 0, do_rename); }
int renameat(int a, const char *one, int b, const char *two) { return named('r', a, one, b, two, 0, do_rename); }
static int do_exchange(int a, const char *one, int b, const char *two) { return REAL(renameat2)(a, one, b, two, RENAME_EXCHANGE); }
static int do_rename_new(int a, const char *one, int b, const char *two) { return REAL(renameat2)(a, one, b, two, RENAME_NOREPLACE); }
int renameat2(int a, const char *one, int b, const char *two, unsigned flags)
{
	if (flags & ~(unsigned)(RENAME_EXCHANGE | RENAME_NOREPLACE))
		return REAL(renameat2)(a, one, b, two, flags); /* nobody here does */
	int exchanges = flags & RENAME_EXCHANGE;
	return named(exchanges ? 'x' : 'r', a, one, b, two, 0, exchanges ? do_exchange : flags ? do_rename_new : do_rename);
}
int link(const char *one, const char *two) { return named('l', AT_FDCWD, one, AT_FDCWD, two, 4096, do_link); }
int linkat(int a, const char *one, int b, const char *two, int flags) { (void)flags; return named('l', a, one, b, two, 4096, do_link); }
int unlink(const char *one) { return named('u', AT_FDCWD, one, 0, NULL, REMOVES, do_unlink); }
int unlinkat(int dir, const char *one, int flags) { return named(flags & AT_REMOVEDIR ? 'd' : 'u', dir, one, 0, NULL, REMOVES, flags & AT_REMOVEDIR ? do_rmdir : do_unlink); }
int rmdir(const char *one) { return named('d', AT_FDCWD, one, 0, NULL, REMOVES, do_rmdir); }
int symlink(const char *one, const char *two) { return named('S', AT_FDCWD, one, AT_FDCWD, two, 4096, do_symlink); }
int mkdir(const char *one, mode_t mode) { mkdir_mode = mode; return named('m', AT_FDCWD, one, 0, NULL, 4096, do_mkdir); }
int mkdirat(int dir, const char *one, mode_t mode) { mkdir_mode = mode; return named('m', dir, one, 0, NULL, 4096, do_mkdir); }

/* ---- processes and descriptors */

int pipe2(int ends[2], int flags) { FAILS(PROCESS, NULL, 0); return REAL(pipe2)(ends, flags); }
pid_t fork(void) { FAILS(PROCESS, NULL, 0); return REAL(fork)(); }
int execve(const char *path, char *const argv[], char *const environment[])
{
	if (!access(path, X_OK))
		FAILS(PROCESS, NULL, 0);
	return REAL(execve)(path, argv, environment);
}
int flock(int fd, int how) { FAILS(PROCESS, NULL, 0); return REAL(flock)(fd, how); }

/* ---- the time of day */

int clock_gettime(clockid_t clock, struct timespec *now)
{
	int status = REAL(clock_gettime)(clock, now);
	if (!status && clock == CLOCK_REALTIME && plan && plan->runner && plan->fired)
		now->tv_sec += plan->clock_shift_s;
	return status;
}
time_t time(time_t *out)
{
	struct timespec now;
	clock_gettime(CLOCK_REALTIME, &now);
	if (out)
		*out = now.tv_sec;
	return now.tv_sec;
}
