// A clock of one process's own: wall-clock time is off by as many microseconds as the file CLOCK_FILE begins with.
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static volatile long long *offset;

__attribute__((constructor)) static void begin(void) {
	const char *path = getenv("CLOCK_FILE");
	int fd = path ? open(path, O_RDONLY) : -1;
	if (fd < 0) return;
	void *at = mmap(0, sizeof *offset, PROT_READ, MAP_SHARED, fd, 0);
	if (at != MAP_FAILED) offset = at;
	close(fd);
}

static long long now(struct timespec *to) { // µs since 1970
	syscall(SYS_clock_gettime, CLOCK_REALTIME, to);
	return (long long)to->tv_sec * 1000000 + to->tv_nsec / 1000 + (offset ? *offset : 0);
}

int gettimeofday(struct timeval *restrict tv, void *restrict zone) {
	(void)zone;
	struct timespec t;
	long long us = now(&t);
	tv->tv_sec = us / 1000000;
	tv->tv_usec = us % 1000000;
	return 0;
}

int clock_gettime(clockid_t id, struct timespec *to) {
	if (id != CLOCK_REALTIME) return syscall(SYS_clock_gettime, id, to);
	long long us = now(to);
	to->tv_sec = us / 1000000;
	to->tv_nsec = us % 1000000 * 1000 + to->tv_nsec % 1000;
	return 0;
}

time_t time(time_t *to) {
	struct timespec t;
	time_t s = now(&t) / 1000000;
	if (to) *to = s;
	return s;
}
