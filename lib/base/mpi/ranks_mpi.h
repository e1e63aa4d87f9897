/* Ranks that MPI has started; built by `make MPI=1`.  A failure of MPI itself ends all processes. */
#ifndef ABUT_BASE_MPI_RANKS_MPI_H
#define ABUT_BASE_MPI_RANKS_MPI_H

#include "base/ranks.h"

#include <stdio.h>

/** MPI begins in this process: its ranks.  Fails  ABUT_E_IO; ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_mpi_begin(abut_ranks **r, abut_err *err);

/** Collective: copies the rest of the file `from` of rank 0 to *to of every rank, a file without a name, rewound.
 * from     of rank 0; other ranks do not read it
 * Fails    ABUT_E_IO, ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_mpi_spread(const abut_ranks *r, FILE *from, FILE **to, abut_err *err);

/** Call before a process ends with an exit code: waits for the other ranks to call it.  With a code other than 0 it waits
 * `patience` seconds.  If other ranks have not called by then, because this rank alone has failed and they wait for its part, it
 * calls last_words and ends all ranks with the code.  A second call does nothing. */
void abut_mpi_part(abut_ranks *r, int code, double patience, void (*last_words)(void));
/** MPI ends, on all ranks. */
void abut_mpi_end(abut_ranks *r);

#endif
