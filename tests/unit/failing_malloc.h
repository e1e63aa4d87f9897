/* An allocator whose n-th allocation fails, for one program: countdown says which, failed whether it did, live how many blocks
 * there are.  ALLOCATOR_STAYS: it cannot be replaced here. */
#ifndef ABUT_TESTS_FAILING_MALLOC_H
#define ABUT_TESTS_FAILING_MALLOC_H

#include <errno.h>
#include <stdlib.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#endif

#if defined(SANITIZED) || !defined(__GLIBC__)
#define ALLOCATOR_STAYS 1
#else

void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void *__libc_memalign(size_t, size_t);
void __libc_free(void *);

static int countdown = -1;      /* allocations until one fails; negative: never */
static int failed, live;

static int fails(void)
{
    if (countdown < 0 || countdown-- > 0) return 0;
    failed = 1;
    return 1;
}

void *malloc(size_t n)
{
    if (fails()) return NULL;
    void *p = __libc_malloc(n);
    live += p != NULL;
    return p;
}

void *calloc(size_t n, size_t size)
{
    if (fails()) return NULL;
    void *p = __libc_calloc(n, size);
    live += p != NULL;
    return p;
}

void *realloc(void *old, size_t n)
{
    if (fails()) return NULL;
    void *p = __libc_realloc(old, n);
    live += p && !old;
    return p;
}

void *aligned_alloc(size_t align, size_t n)
{
    if (fails()) return NULL;
    void *p = __libc_memalign(align, n);
    live += p != NULL;
    return p;
}

int posix_memalign(void **to, size_t align, size_t n)
{
    void *p = aligned_alloc(align, n);
    if (!p) return ENOMEM;
    *to = p;
    return 0;
}

void free(void *p)
{
    live -= p != NULL;
    __libc_free(p);
}

#endif
#endif
