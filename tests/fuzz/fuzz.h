/* What a fuzz target has.  The engine is libFuzzer or, where it is absent, tests/fuzz/driver.c. */
#ifndef ABUT_TESTS_FUZZ_H
#define ABUT_TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>

/** One input; aborts when what must hold does not.  Returns 0. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/** The seed that a file makes for this target, malloc'ed; 0 when the file is none of its. */
int fuzz_seed(unsigned char **data, size_t *size, const char *path);

/** One byte and then the file; 0 when it cannot be read.  For fuzz_seed. */
int fuzz_load(unsigned char **data, size_t *size, const char *path, unsigned char first);

#endif
