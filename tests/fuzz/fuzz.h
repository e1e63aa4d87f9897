/* Interface of a fuzz target.  The engine is libFuzzer or, if it is absent, tests/fuzz/driver.c. */
#ifndef ABUT_TESTS_FUZZ_H
#define ABUT_TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>

/** Tests one input; aborts if a property is violated.  Returns 0. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/** Makes the seed of a file, malloc'ed; returns 0 if the file is not for this target. */
int fuzz_seed(unsigned char **data, size_t *size, const char *path);

/** Makes a seed of the byte `first` and the file; returns 0 if it cannot be read.  For fuzz_seed. */
int fuzz_load(unsigned char **data, size_t *size, const char *path, unsigned char first);

#endif
