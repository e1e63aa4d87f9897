#include "base/arena.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define ALIGN ((size_t)64)
#define CHUNK ((size_t)1 << 20)

struct abut_chunk {
    struct abut_chunk *next;
    size_t size, used;
    char *data;
};

static struct abut_chunk *chunk_new(abut_arena *a, size_t size)
{
    if (a->limit && (size > a->limit || a->total > a->limit - size)) return NULL;
    struct abut_chunk *c = malloc(sizeof *c);
    void *data = NULL;
    if (!c || posix_memalign(&data, ALIGN, size)) {
        free(c);
        return NULL;
    }
    *c = (struct abut_chunk){ .size = size, .data = data };
    a->total += size;
    return c;
}

/* Allocates a chunk of at least so many bytes, larger for requests that grow unless that exceeds the limit. */
static struct abut_chunk *chunk_for(abut_arena *a, size_t bytes)
{
    struct abut_chunk *c = bytes > CHUNK ? chunk_new(a, bytes + bytes / 8 / ALIGN * ALIGN) : chunk_new(a, CHUNK);
    return c || bytes <= CHUNK ? c : chunk_new(a, bytes);
}

/* Returns the one after it. */
static struct abut_chunk *chunk_free(abut_arena *a, struct abut_chunk *c)
{
    struct abut_chunk *next = c->next;
    a->total -= c->size;
    free(c->data);
    free(c);
    return next;
}

static void *take(abut_arena *a, size_t n, size_t size, size_t *taken)
{
    if (size && n > SIZE_MAX / 2 / size) return NULL;
    const size_t bytes = (n * size + ALIGN - 1) / ALIGN * ALIGN + (n == 0 || size == 0 ? ALIGN : 0);
    struct abut_chunk *c = a->cur;
    while (c && c->size - c->used < bytes) {
        /* later chunks are released: take the next one if it is large enough, else replace it by a new one */
        struct abut_chunk *next = c->next;
        if (next && next->size >= bytes) {
            next->used = 0;
            c = next;
            continue;
        }
        if (next) c->next = chunk_free(a, next);
        struct abut_chunk *fresh = chunk_for(a, bytes);
        if (!fresh) return NULL;
        fresh->next = c->next;
        c->next = fresh;
        c = fresh;
    }
    if (!c) {
        c = chunk_for(a, bytes);
        if (!c) return NULL;
        a->first = c;
    }
    a->cur = c;
    void *p = c->data + c->used;
    c->used += bytes;
    *taken = bytes;
    return p;
}

void *abut_arena_alloc(abut_arena *a, size_t n, size_t size)
{
    size_t bytes;
    void *p = take(a, n, size, &bytes);
    return p ? memset(p, 0, bytes) : NULL;
}

void *abut_arena_room(abut_arena *a, size_t n, size_t size)
{
    size_t bytes;
    return take(a, n, size, &bytes);
}

abut_mark abut_arena_mark(const abut_arena *a)
{
    return (abut_mark){ a->cur, a->cur ? a->cur->used : 0 };
}

void abut_arena_release(abut_arena *a, abut_mark m)
{
    if (m.chunk) {
        a->cur = m.chunk;
        m.chunk->used = m.used;
    } else if (a->first) {
        a->cur = a->first;
        a->first->used = 0;
    }
}

void abut_arena_clear(abut_arena *a)
{
    for (struct abut_chunk *c = a->first, *next; c; c = next) {
        next = c->next;
        free(c->data);
        free(c);
    }
    a->first = a->cur = NULL;
    a->total = 0;
}

void *abut_array_new(size_t n, size_t size)
{
    return n > SIZE_MAX / size - 1 ? NULL : malloc((n + 1) * size);
}

int abut_resize(void *list, size_t n, size_t size)
{
    void *at;
    memcpy(&at, list, sizeof at);
    at = n <= SIZE_MAX / size ? realloc(at, n * size) : NULL;
    if (at) memcpy(list, &at, sizeof at);
    return at != NULL;
}

int abut_grow(void *list, size_t n, size_t *cap, size_t size)
{
    const size_t want = n > 2 * *cap + 16 ? n : 2 * *cap + 16;
    if (n <= *cap) return 1;
    if (!abut_resize(list, want, size)) return 0;
    *cap = want;
    return 1;
}

int abut_arrays_make(const abut_want *want, size_t n)
{
    int all = 1;
    for (size_t i = 0; i < n; i++) {
        void *at = want[i].zero ? calloc(want[i].n + 1, want[i].size) : abut_array_new(want[i].n, want[i].size);
        memcpy(want[i].list, &at, sizeof at);
        all &= at != NULL;
    }
    return all;
}

void abut_free_all(void *const *p, size_t n)
{
    for (size_t i = 0; i < n; i++) free(p[i]);
}
