#include "base/arena.h"
#include "base/par.h"

#include "base/timer.h"

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { PIECE = 16 << 20 };  /* bytes of a file at a time */

typedef struct state {
    abut_ranks ranks;       /* first: an abut_ranks of this file is one */
    MPI_Comm work, parting;
    int *count, *first;     /* [size] items of each rank, and where they begin */
    int parted;
} state;

/* One item of so many bytes; failures of MPI end all processes. */
static MPI_Datatype item_of(size_t bytes)
{
    MPI_Datatype item;
    MPI_Type_contiguous((int)bytes, MPI_BYTE, &item);
    MPI_Type_commit(&item);
    return item;
}

static void join(state *s, const void *own, int n_own, size_t bytes, void *all)
{
    MPI_Datatype item = item_of(bytes);
    MPI_Allgatherv(own, n_own, item, all, s->count, s->first, item, s->work);
    MPI_Type_free(&item);
}

static void join_parts(void *self, void *all, size_t n, size_t bytes)
{
    state *s = self;
    const abut_ranks *r = &s->ranks;
    assert(n <= INT_MAX);
    for (int k = 0; k < r->size; k++) {
        const abut_range part = abut_ranks_part_of(r, n, k);
        s->first[k] = (int)part.lo;
        s->count[k] = (int)(part.hi - part.lo);
    }
    join(s, MPI_IN_PLACE, 0, bytes, all);
}

static abut_status join_lists(void *self, const void *own, size_t n_own, size_t bytes, void **all, size_t *n, abut_err *err)
{
    state *s = self;
    const abut_ranks *r = &s->ranks;
    const int mine = n_own <= INT_MAX ? (int)n_own : -1;
    MPI_Allgather(&mine, 1, MPI_INT, s->count, 1, MPI_INT, s->work);
    long long sum = 0;
    for (int k = 0; k < r->size; k++) {
        if (s->count[k] < 0 || sum + s->count[k] > INT_MAX)
            return abut_fail(err, ABUT_E_NOMEM, "lists of %d ranks: more than %d items", r->size, INT_MAX);
        s->first[k] = (int)sum;
        sum += s->count[k];
    }
    *n = (size_t)sum;
    *all = malloc(*n * bytes + 1);
    if (!*all) return abut_fail(err, ABUT_E_NOMEM, "lists of %d ranks: %zu items", r->size, *n);
    join(s, own, mine, bytes, *all);
    return ABUT_OK;
}

abut_status abut_mpi_begin(abut_ranks **out, abut_err *err)
{
    int rank, size;
    if (MPI_Init(NULL, NULL) || MPI_Comm_rank(MPI_COMM_WORLD, &rank) || MPI_Comm_size(MPI_COMM_WORLD, &size))
        return abut_fail(err, ABUT_E_IO, "MPI does not start");
    state *s = malloc(sizeof *s);
    if (!s) return abut_fail(err, ABUT_E_NOMEM, "%d ranks", size);
    *s = (state){ .ranks = { rank, size, join_parts, join_lists, s } };
    s->count = calloc((size_t)size, sizeof *s->count);
    s->first = calloc((size_t)size, sizeof *s->first);
    *out = &s->ranks;
    MPI_Comm_dup(MPI_COMM_WORLD, &s->work);
    MPI_Comm_dup(MPI_COMM_WORLD, &s->parting);
    return s->count && s->first ? ABUT_OK : abut_fail(err, ABUT_E_NOMEM, "%d ranks", size);
}

abut_status abut_mpi_spread(const abut_ranks *r, FILE *from, FILE **to, abut_err *err)
{
    const state *s = r->self;
    char *piece = malloc(PIECE);
    int n = 1;
    *to = tmpfile();
    if (!*to || !piece) {
        free(piece);
        return abut_fail(err, *to ? ABUT_E_NOMEM : ABUT_E_IO, "a copy of the input: %s", strerror(errno));
    }
    int bad = 0;
    while (n > 0) {
        if (r->rank == 0) n = (int)fread(piece, 1, PIECE, from);
        if (r->rank == 0 && n == 0 && ferror(from)) n = -1;
        MPI_Bcast(&n, 1, MPI_INT, 0, s->work);
        if (n > 0) MPI_Bcast(piece, n, MPI_BYTE, 0, s->work);
        if (n > 0 && !bad && fwrite(piece, 1, (size_t)n, *to) != (size_t)n) bad = errno;
    }
    free(piece);
    if (n < 0) return abut_fail(err, ABUT_E_IO, "reading the input: %s", strerror(errno));
    if (bad || fflush(*to)) return abut_fail(err, ABUT_E_IO, "a copy of the input: %s", strerror(bad ? bad : errno));
    rewind(*to);
    return ABUT_OK;
}

void abut_mpi_part(abut_ranks *r, int code, double patience, void (*last_words)(void))
{
    state *s = r->self;
    int all_here = 0;
    MPI_Request parting;
    const double start = abut_time_wall();
    const struct timespec nap = { 0, 2000000 };
    if (s->parted) return;
    s->parted = 1;
    MPI_Ibarrier(s->parting, &parting);
    MPI_Test(&parting, &all_here, MPI_STATUS_IGNORE);
    while (!all_here && (!code || abut_time_wall() - start < patience)) {
        nanosleep(&nap, NULL);
        MPI_Test(&parting, &all_here, MPI_STATUS_IGNORE);
    }
    if (all_here) return;
    last_words();
    MPI_Abort(MPI_COMM_WORLD, code);
}

void abut_mpi_end(abut_ranks *r)
{
    state *s = r->self;
    MPI_Comm_free(&s->work);
    MPI_Comm_free(&s->parting);
    MPI_Finalize();
    ABUT_FREE(s->count, s->first, s);
}
