/* Counts what this process asks the heap for, while it is told to. Loaded before libc (LD_PRELOAD).
 *
 * dlsym itself may allocate before the real functions are known: such calls are served from a small buffer.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

static void *(*real_malloc)(size_t);
static void *(*real_calloc)(size_t, size_t);
static void *(*real_realloc)(void *, size_t);
static void *(*real_aligned)(size_t, size_t);
static int (*real_posix)(void **, size_t, size_t);
static void (*real_free)(void *);
static char early[65536];
static size_t used;
static __thread long count;

static void *from_buffer(size_t size) {
    void *p = early + used;
    used += (size + 15) & ~(size_t)15;
    return p;
}

static void find(void) {
    static int finding;
    if (real_malloc || finding) return;
    finding = 1;
    real_calloc = dlsym(RTLD_NEXT, "calloc");
    real_realloc = dlsym(RTLD_NEXT, "realloc");
    real_aligned = dlsym(RTLD_NEXT, "aligned_alloc");
    real_posix = dlsym(RTLD_NEXT, "posix_memalign");
    real_free = dlsym(RTLD_NEXT, "free");
    real_malloc = dlsym(RTLD_NEXT, "malloc");
    finding = 0;
}

long allocations(void) { return count; }

void *malloc(size_t size) {
    find();
    ++count;
    return real_malloc ? real_malloc(size) : from_buffer(size);
}

void *calloc(size_t n, size_t size) {
    find();
    ++count;
    return real_malloc ? real_calloc(n, size) : memset(from_buffer(n * size), 0, n * size);
}

void *realloc(void *p, size_t size) {
    find();
    ++count;
    if ((char *)p >= early && (char *)p < early + sizeof early) return memcpy(malloc(size), p, size);
    return real_realloc(p, size);
}

void *aligned_alloc(size_t alignment, size_t size) {
    find();
    ++count;
    return real_aligned(alignment, size);
}

int posix_memalign(void **p, size_t alignment, size_t size) {
    find();
    ++count;
    return real_posix(p, alignment, size);
}

void free(void *p) {
    if ((char *)p >= early && (char *)p < early + sizeof early) return;
    find();
    real_free(p);
}
