/* Ranks that MPI has started; built by `make MPI=1`.  Where MPI itself fails, it ends all processes. */
#ifndef ABUT_BASE_MPI_RANKS_MPI_H
#define ABUT_BASE_MPI_RANKS_MPI_H

#include "base/ranks.h"

#include <stdio.h>

/** MPI begins in this process: its ranks.  Fails  ABUT_E_IO; ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_mpi_begin(abut_ranks **r, abut_err *err);

/** On all ranks: what rank 0 reads from `from` to its end is in *to, a file without a name, at its start.
 * from     of rank 0; the others do not read it
 * Fails    ABUT_E_IO, ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_mpi_spread(const abut_ranks *r, FILE *from, FILE **to, abut_err *err);

/** Before a process ends with an exit code: waits for the other ranks to come here.  With a code other than 0 it waits `patience`
 * seconds.  Where others have not come by then, as this rank alone has failed and they wait for its part of the work, it calls
 * last_words and ends all with the code.  Called again it does nothing. */
void abut_mpi_part(abut_ranks *r, int code, double patience, void (*last_words)(void));
/** MPI ends, on all ranks. */
void abut_mpi_end(abut_ranks *r);

#endif
