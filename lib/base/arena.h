/* Memory: scratch by mark, allocate, release; arrays of malloc.  Kernels and inner loops never call malloc. */
#ifndef ABUT_BASE_ARENA_H
#define ABUT_BASE_ARENA_H

#include <stddef.h>

/* Zero-filled is a valid, empty arena that grows by chunks.  A chunk, and thus a pointer into it, is valid until its mark is
 * released.  One arena serves one thread. */
typedef struct abut_arena {
    struct abut_chunk *first, *cur;
    size_t limit;   /* bytes: allocations fail beyond it; 0: no limit */
    size_t total;   /* bytes held by the chunks */
} abut_arena;

typedef struct abut_mark {
    struct abut_chunk *chunk;
    size_t used;
} abut_mark;

/** Returns n * size zero-filled bytes, aligned to 64; NULL: the limit is reached, or out of memory. */
void *abut_arena_alloc(abut_arena *a, size_t n, size_t size);
/** Returns what abut_arena_alloc does, not filled: for arrays that are written whole before they are read. */
void *abut_arena_room(abut_arena *a, size_t n, size_t size);
abut_mark abut_arena_mark(const abut_arena *a);
/** Frees all memory allocated after the mark. */
void abut_arena_release(abut_arena *a, abut_mark m);
/** Frees every chunk; the arena is empty and usable again. */
void abut_arena_clear(abut_arena *a);

#define ABUT_NEW(arena, type, n) ((type *)abut_arena_alloc((arena), (size_t)(n), sizeof(type)))
#define ABUT_ROOM(arena, type, n) ((type *)abut_arena_room((arena), (size_t)(n), sizeof(type)))

/** Returns malloc'ed room for n items of `size` bytes, at least one; NULL: out of memory, or more than there are addresses. */
void *abut_array_new(size_t n, size_t size);
/** Gives a malloc'ed list, or NULL, room for n items.  Returns 0 if memory is out; then the list is as before.
 * list  address of the pointer to it */
int abut_resize(void *list, size_t n, size_t size);
/** As abut_resize, if *cap is less than n: *cap becomes n or more, so that adding items one by one takes linear time. */
int abut_grow(void *list, size_t n, size_t *cap, size_t size);
#define ABUT_RESIZE(list, n) abut_resize(&(list), (size_t)(n), sizeof *(list))
#define ABUT_GROW(list, n, cap) abut_grow(&(list), (size_t)(n), &(cap), sizeof *(list))
/* A malloc'ed array to be made: room for n items, filled with 0 or not. */
typedef struct abut_want {
    void *list;             /* address of the pointer to it */
    size_t n, size;
    int zero;
} abut_want;
#define ABUT_ITEMS(list, n) { &(list), (size_t)(n), sizeof *(list), 0 }
#define ABUT_ZEROS(list, n) { &(list), (size_t)(n), sizeof *(list), 1 }
/** Makes every array of ABUT_ITEMS and ABUT_ZEROS, each of at least one item.  Returns 0 if memory is out; then some are NULL. */
#define ABUT_ARRAYS(...) \
    abut_arrays_make((const abut_want[]){ __VA_ARGS__ }, sizeof((abut_want[]){ __VA_ARGS__ }) / sizeof(abut_want))
int abut_arrays_make(const abut_want *want, size_t n);
/** Frees malloc'ed arrays; NULL is fine. */
#define ABUT_FREE(...) abut_free_all((void *[]){ __VA_ARGS__ }, sizeof((void *[]){ __VA_ARGS__ }) / sizeof(void *))
void abut_free_all(void *const *p, size_t n);

#endif
