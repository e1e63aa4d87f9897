/* Numbers of a block of page_data.h: codes of 16 bits, differences, bytes by significance. */
#ifndef ABUT_FORMATS_HTML_BLOCK_H
#define ABUT_FORMATS_HTML_BLOCK_H

#include <stddef.h>
#include <stdint.h>

enum { ABUT_PLACE_MOST = 65534, ABUT_FIELD_MOST = 4095, ABUT_CODE_NONE = 65535 };

/* n numbers of `size` bytes, which are put one after another: byte k of number i at byte[k n + i]. */
typedef struct abut_block {
    uint8_t *byte;      /* [n size] borrowed */
    size_t n, size;
    size_t at;          /* numbers put so far */
    uint32_t before;    /* the last of them in this list */
} abut_block;

/** Begins a list; its first number is stored itself. */
void abut_block_restart(abut_block *b);
/** Puts v as its difference from the number before. */
void abut_block_put(abut_block *b, uint32_t v);
/** A list of indices. */
void abut_block_indices(abut_block *b, const int32_t *v, size_t n);
/** Writes n little-endian f32 and returns where they end. */
uint8_t *abut_block_f32(uint8_t *to, const float *v, size_t n);

/** The nearest of most + 1 steps from lo to hi, clamped; ABUT_CODE_NONE for what is not finite. */
uint16_t abut_block_code(double v, double lo, double hi, int most);

/* Histogram of the codes of a field, in 256 classes. */
typedef struct abut_block_counts {
    size_t all, of[256];
} abut_block_counts;
/** Counts a code, unless it is ABUT_CODE_NONE. */
void abut_block_count(abut_block_counts *c, uint16_t code);
/** The end, 0 to 1, of the first class that at most 1 of 200 codes is beyond; 1 where none was counted. */
double abut_block_top(const abut_block_counts *c);

#endif
