/* The library, for programs of others: streams (state_io.h), their arrays (array.h), runs with energies of a program's own
 * (run.h, element_energy.h), errors (err.h).  C11 or C++14.
 *
 *     cc -std=c11 $(pkg-config --cflags abut) program.c $(pkg-config --libs abut) */
#ifndef ABUT_ABUT_ABUT_H
#define ABUT_ABUT_ABUT_H

#include "abut/run.h"
#include "formats/stream/state_io.h"

#endif
