#define _GNU_SOURCE     /* environ */
#include "formats/picture/image.h"

#include "base/arena.h"
#include "formats/result/out_file.h"
#include "formats/stream/state_wire.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

abut_status abut_image_make(abut_image *im, int w, int h, const uint8_t rgb[3], abut_err *err)
{
    uint8_t *p = malloc((size_t)w * (size_t)h * 3);
    if (!p) return abut_fail(err, ABUT_E_NOMEM, "no memory for a picture of %d x %d", w, h);
    for (size_t i = 0; i < (size_t)w * (size_t)h; i++) memcpy(p + 3 * i, rgb, 3);
    *im = (abut_image){ w, h, p };
    return ABUT_OK;
}

void abut_image_clear(abut_image *im)
{
    free(im->rgb);
    *im = (abut_image){ 0 };
}

void abut_image_paste(abut_image *dst, const abut_image *src, int x, int y)
{
    const int lo = x < 0 ? -x : 0, hi = x + src->w > dst->w ? dst->w - x : src->w;
    for (int r = 0; r < src->h; r++)
        if (y + r >= 0 && y + r < dst->h && lo < hi)
            memcpy(dst->rgb + 3 * ((size_t)(y + r) * (size_t)dst->w + (size_t)(x + lo)),
                   src->rgb + 3 * ((size_t)r * (size_t)src->w + (size_t)lo), 3 * (size_t)(hi - lo));
}

void abut_image_fill(abut_image *im, int x, int y, int w, int h, const uint8_t rgb[3], double alpha)
{
    for (int r = y < 0 ? 0 : y; r < y + h && r < im->h; r++)
        for (int c = x < 0 ? 0 : x; c < x + w && c < im->w; c++) {
            uint8_t *p = im->rgb + 3 * ((size_t)r * (size_t)im->w + (size_t)c);
            for (int d = 0; d < 3; d++) p[d] = (uint8_t)(p[d] + alpha * (rgb[d] - p[d]) + 0.5);
        }
}

/* ---- letters: the 5x7 dot matrix of ASCII 32 to 126, a byte for each column from left to right, its lowest bit on top ---- */

enum { FIRST = 32, LAST = 126, COLUMNS = 5, ROWS = 7, ADVANCE = 6 };

static const uint64_t glyph[LAST - FIRST + 2] = {
    0x0000000000, 0x00005f0000, 0x0007000700, 0x147f147f14, 0x242a7f2a12, 0x2313086462, 0x3649552250, /*   ! " # $ % & */
    0x0005030000, 0x001c224100, 0x0041221c00, 0x14083e0814, 0x08083e0808, 0x0050300000, 0x0808080808, /* ' ( ) * + , - */
    0x0060600000, 0x2010080402, 0x3e5149453e, 0x00427f4000, 0x4261514946, 0x2141454b31, 0x1814127f10, /* . / 0 1 2 3 4 */
    0x2745454539, 0x3c4a494930, 0x0171090503, 0x3649494936, 0x064949291e, 0x0036360000, 0x0056360000, /* 5 6 7 8 9 : ; */
    0x0814224100, 0x1414141414, 0x0041221408, 0x0201510906, 0x324979413e, 0x7e1111117e, 0x7f49494936, /* < = > ? @ A B */
    0x3e41414122, 0x7f4141221c, 0x7f49494941, 0x7f09090901, 0x3e4149497a, 0x7f0808087f, 0x00417f4100, /* C D E F G H I */
    0x2040413f01, 0x7f08142241, 0x7f40404040, 0x7f020c027f, 0x7f0408107f, 0x3e4141413e, 0x7f09090906, /* J K L M N O P */
    0x3e4151215e, 0x7f09192946, 0x4649494931, 0x01017f0101, 0x3f4040403f, 0x1f2040201f, 0x3f4038403f, /* Q R S T U V W */
    0x6314081463, 0x0708700807, 0x6151494543, 0x007f414100, 0x0204081020, 0x0041417f00, 0x0402010204, /* X Y Z [ \ ] ^ */
    0x4040404040, 0x0001020400, 0x2054545478, 0x7f48444438, 0x3844444420, 0x384444487f, 0x3854545418, /* _ ` a b c d e */
    0x087e090102, 0x0c5252523e, 0x7f08040478, 0x00447d4000, 0x2040443d00, 0x7f10284400, 0x00417f4000, /* f g h i j k l */
    0x7c04180478, 0x7c08040478, 0x3844444438, 0x7c14141408, 0x081414187c, 0x7c08040408, 0x4854545420, /* m n o p q r s */
    0x043f444020, 0x3c4040207c, 0x1c2040201c, 0x3c4030403c, 0x4428102844, 0x0c5050503c, 0x4464544c44, /* t u v w x y z */
    0x0008364100, 0x00007f0000, 0x0041360800, 0x0804081008, 0x7f4141417f  /* { | } ~ box */
};

int abut_image_text_width(const char *text, int scale)
{
    int n = 0;
    for (; *text && *text != '\n'; text++) n++;
    return n ? (n * ADVANCE - 1) * scale : 0;
}

int abut_image_text_height(int scale) { return ROWS * scale; }

void abut_image_text(abut_image *im, int x, int y, int scale, const char *text, const uint8_t rgb[3])
{
    for (int left = x; *text; text++) {
        const unsigned char c = (unsigned char)*text;
        if (c == '\n') {
            x = left;
            y += (ROWS + 3) * scale;
            continue;
        }
        const uint64_t g = glyph[c >= FIRST && c <= LAST ? c - FIRST : LAST - FIRST + 1];
        for (int k = 0; k < COLUMNS; k++)
            for (int r = 0; r < ROWS; r++)
                if (g >> (8 * (COLUMNS - 1 - k) + r) & 1) abut_image_fill(im, x + k * scale, y + r * scale, scale, scale, rgb, 1);
        x += ADVANCE * scale;
    }
}

/* ---- PNG (ISO/IEC 15948): every row takes the filter with the smallest sum of absolute differences ---- */

enum { PIXEL = 3, FILTERS = 5, LEVEL = 6 };

static void put_be32(uint8_t *p, uint32_t v) { for (int i = 0; i < 4; i++) p[i] = (uint8_t)(v >> (24 - 8 * i)); }

static void put_chunk(FILE *f, const char *type, const uint8_t *data, size_t n)
{
    uint8_t word[4];
    put_be32(word, (uint32_t)n);
    fwrite(word, 1, 4, f);
    fwrite(type, 1, 4, f);
    if (n) fwrite(data, 1, n, f);
    put_be32(word, abut_crc32(abut_crc32(0, type, 4), data, n));
    fwrite(word, 1, 4, f);
}

/* left, above, above left */
static uint8_t paeth(int a, int b, int c)
{
    const int pa = abs(b - c), pb = abs(a - c), pc = abs(a + b - 2 * c);
    return (uint8_t)(pa <= pb && pa <= pc ? a : pb <= pc ? b : c);
}

static uint8_t predict(int filter, const uint8_t *row, const uint8_t *above, size_t i)
{
    const int a = i >= PIXEL ? row[i - PIXEL] : 0, b = above ? above[i] : 0, c = above && i >= PIXEL ? above[i - PIXEL] : 0;
    switch (filter) {
    case 1: return (uint8_t)a;
    case 2: return (uint8_t)b;
    case 3: return (uint8_t)((a + b) / 2);
    case 4: return paeth(a, b, c);
    default: return 0;
    }
}

static void filter_row(const uint8_t *row, const uint8_t *above, size_t n, uint8_t *out, uint8_t *trial)
{
    unsigned long least = (unsigned long)-1;
    for (int filter = 0; filter < FILTERS; filter++) {
        unsigned long sum = 0;
        trial[0] = (uint8_t)filter;
        for (size_t i = 0; i < n; i++) {
            trial[1 + i] = (uint8_t)(row[i] - predict(filter, row, above, i));
            sum += (unsigned)abs((int8_t)trial[1 + i]);
        }
        if (sum >= least) continue;
        least = sum;
        memcpy(out, trial, n + 1);
    }
}

abut_status abut_image_png(const abut_image *im, FILE *f, abut_err *err)
{
    const size_t row = PIXEL * (size_t)im->w, total = (row + 1) * (size_t)im->h;
    uint8_t *filtered = malloc(total + 1), *trial = malloc(row + 1), *z = NULL;
    size_t nz = 0;
    abut_status rc = ABUT_OK;
    if (!filtered || !trial) rc = abut_fail(err, ABUT_E_NOMEM, "no memory for a picture of %d x %d", im->w, im->h);
    for (int y = 0; y < im->h && !rc; y++) {
        const uint8_t *p = im->rgb + (size_t)y * row;
        filter_row(p, y ? p - row : NULL, row, filtered + (size_t)y * (row + 1), trial);
    }
    if (!rc) rc = abut_zlib_stream(filtered, total, LEVEL, &z, &nz, err);
    if (!rc) {
        uint8_t head[13] = { [8] = 8 /* bits */, [9] = 2 /* RGB */ };
        put_be32(head, (uint32_t)im->w);
        put_be32(head + 4, (uint32_t)im->h);
        fwrite("\x89PNG\r\n\x1a\n", 1, 8, f);
        put_chunk(f, "IHDR", head, sizeof head);
        put_chunk(f, "sRGB", (const uint8_t[1]){ 0 }, 1);
        put_chunk(f, "IDAT", z, nz);
        put_chunk(f, "IEND", NULL, 0);
    }
    ABUT_FREE(filtered, trial, z);
    return rc;
}

/* ---- films ---- */

/* ---- GIF ---- */

enum {
    BINS = 32768 /* colours by 5 bits of each of red, green and blue */,
    COLORS = 256,
    CODES = 4096,
    HASH = 16381 /* a prime, four times the codes */,
    CLEAR = COLORS,
    END = COLORS + 1
};

/* Number and colour sums of the pixels of a bin. */
typedef struct bin {
    uint32_t count, sum[3];
} bin;

/* Bins [lo, hi) of `order`, which a colour will stand for. */
typedef struct box {
    int lo, hi, axis, width;    /* axis along which it is widest, in bins */
    uint64_t count;
} box;

struct abut_gif {
    FILE *f;
    int w, h, hundredths, n;
    abut_image before;          /* the picture added last */
    uint8_t *index;             /* [w h] of the rectangle */
    bin *bins;                  /* [BINS] */
    uint16_t *order;            /* [BINS] bins that have pixels, by box */
    uint8_t color_of[BINS];
    uint8_t palette[3 * COLORS];
    int32_t key[HASH];          /* 256 * code + byte, -1: free */
    uint16_t code[HASH];
    uint8_t block[256];         /* of at most 255 bytes, behind their count */
    uint32_t bits;
    int n_bits;
};

static void put16(FILE *f, int v)
{
    fputc(v & 255, f);
    fputc(v >> 8 & 255, f);
}

abut_status abut_gif_open(FILE *f, int w, int h, int hundredths, abut_gif **out, abut_err *err)
{
    assert(w > 0 && h > 0 && w <= 65535 && h <= 65535);
    abut_gif *g = calloc(1, sizeof *g);
    if (g) *g = (abut_gif){ .f = f, .w = w, .h = h, .hundredths = hundredths };
    if (g) g->index = malloc((size_t)w * (size_t)h), g->bins = malloc(BINS * sizeof *g->bins),
           g->order = malloc(BINS * sizeof *g->order);
    if (!g || !g->index || !g->bins || !g->order) {
        abut_gif_free(&g);
        return abut_fail(err, ABUT_E_NOMEM, "no memory for a film of %d x %d", w, h);
    }
    static const uint8_t white[3] = { 255, 255, 255 };
    const abut_status rc = abut_image_make(&g->before, w, h, white, err);
    if (rc) {
        abut_gif_free(&g);
        return rc;
    }
    fputs("GIF89a", f);
    put16(f, w);
    put16(f, h);
    fwrite("\x70\0\0", 1, 3, f);                                    /* 8 bits a colour, no table for all */
    fwrite("\x21\xff\x0bNETSCAPE2.0\x03\x01\0\0\0", 1, 19, f);      /* again and again */
    *out = g;
    return ABUT_OK;
}

void abut_gif_free(abut_gif **pg)
{
    abut_gif *g = *pg;
    if (!g) return;
    abut_image_clear(&g->before);
    ABUT_FREE(g->index, g->bins, g->order, g);
    *pg = NULL;
}

/* ---- colours ---- */

static int bin_of(const uint8_t *rgb) { return (rgb[0] >> 3) << 10 | (rgb[1] >> 3) << 5 | rgb[2] >> 3; }

static int along(int b, int axis) { return b >> (10 - 5 * axis) & 31; }

static void measure(const abut_gif *g, box *b)
{
    b->width = -1;
    b->count = 0;
    for (int axis = 0; axis < 3; axis++) {
        int lo = 31, hi = 0;
        for (int i = b->lo; i < b->hi; i++) {
            const int at = along(g->order[i], axis);
            if (at < lo) lo = at;
            if (at > hi) hi = at;
        }
        if (hi - lo > b->width) b->width = hi - lo, b->axis = axis;
    }
    for (int i = b->lo; i < b->hi; i++) b->count += g->bins[g->order[i]].count;
}

/* Sorts the bins of a box along its axis, stably. */
static void sort_box(abut_gif *g, const box *b, uint16_t *room)
{
    int first[33] = { 0 };
    for (int i = b->lo; i < b->hi; i++) first[along(g->order[i], b->axis) + 1]++;
    for (int k = 0; k < 32; k++) first[k + 1] += first[k];
    for (int i = b->lo; i < b->hi; i++) room[first[along(g->order[i], b->axis)]++] = g->order[i];
    memcpy(g->order + b->lo, room, (size_t)(b->hi - b->lo) * sizeof *room);
}

/* Cuts a box where half of its pixels are on each side, as near as its bins allow. */
static void cut(abut_gif *g, box *b, box *rest, uint16_t *room)
{
    uint64_t seen = 0;
    int at = b->lo;
    sort_box(g, b, room);
    while (at < b->hi - 1 && (at == b->lo || 2 * seen < b->count)) seen += g->bins[g->order[at++]].count;
    *rest = (box){ .lo = at, .hi = b->hi };
    b->hi = at;
    measure(g, b);
    measure(g, rest);
}

static void make_color(abut_gif *g, const box *b, int color)
{
    uint64_t sum[3] = { 0 };
    for (int i = b->lo; i < b->hi; i++) {
        g->color_of[g->order[i]] = (uint8_t)color;
        for (int d = 0; d < 3; d++) sum[d] += g->bins[g->order[i]].sum[d];
    }
    for (int d = 0; d < 3; d++) g->palette[3 * color + d] = (uint8_t)((sum[d] + b->count / 2) / b->count);
}

/* Colours of the bins that have pixels: boxes are cut, the one with the most pixels times width first. */
static abut_status make_palette(abut_gif *g, abut_err *err)
{
    box boxes[COLORS] = { { .lo = 0 } };
    uint16_t *room = malloc(BINS * sizeof *room);
    int n = 1;
    if (!room) return abut_fail(err, ABUT_E_NOMEM, "no memory for the colours of a film");
    for (int b = 0; b < BINS; b++)
        if (g->bins[b].count) g->order[boxes[0].hi++] = (uint16_t)b;
    measure(g, &boxes[0]);
    while (n < COLORS) {
        int best = -1;
        uint64_t most = 0;
        for (int i = 0; i < n; i++)
            if (boxes[i].hi - boxes[i].lo > 1 && boxes[i].count * (uint64_t)boxes[i].width > most)
                best = i, most = boxes[i].count * (uint64_t)boxes[i].width;
        if (best < 0) break;
        cut(g, &boxes[best], &boxes[n++], room);
    }
    memset(g->palette, 0, sizeof g->palette);
    for (int i = 0; i < n; i++) make_color(g, &boxes[i], i);
    free(room);
    return ABUT_OK;
}

/* ---- codes ---- */

static void flush_block(abut_gif *g)
{
    if (g->block[0]) fwrite(g->block, 1, (size_t)g->block[0] + 1, g->f);
    g->block[0] = 0;
}

static void put_byte(abut_gif *g, uint8_t byte)
{
    g->block[++g->block[0]] = byte;
    if (g->block[0] == 255) flush_block(g);
}

static void put_code(abut_gif *g, int code, int width)
{
    g->bits |= (uint32_t)code << g->n_bits;
    for (g->n_bits += width; g->n_bits >= 8; g->n_bits -= 8, g->bits >>= 8) put_byte(g, (uint8_t)g->bits);
}

/* Returns the slot of the code of a string with one more byte, or the free slot for it. */
static int place_of(const abut_gif *g, int32_t key)
{
    int at = (int)((uint32_t)key * 2654435761u % HASH);
    while (g->key[at] >= 0 && g->key[at] != key) at = (at + 1) % HASH;
    return at;
}

static void put_codes(abut_gif *g, size_t n)
{
    int width = 9, next = END + 1, now = g->index[0];
    memset(g->key, -1, sizeof g->key);
    fputc(8, g->f);
    put_code(g, CLEAR, width);
    for (size_t i = 1; i < n; i++) {
        const int32_t key = 256 * now + g->index[i];
        const int at = place_of(g, key);
        if (g->key[at] == key) {
            now = g->code[at];
            continue;
        }
        put_code(g, now, width);
        now = g->index[i];
        if (next < CODES) {
            g->key[at] = key;
            g->code[at] = (uint16_t)next;
            if (next++ == 1 << width) width++;
        } else {
            put_code(g, CLEAR, width);
            memset(g->key, -1, sizeof g->key);
            width = 9, next = END + 1;
        }
    }
    put_code(g, now, width);
    if (next == 1 << width && width < 12) width++;      /* as a reader has it by now */
    put_code(g, END, width);
    if (g->n_bits) put_byte(g, (uint8_t)g->bits);
    g->bits = 0, g->n_bits = 0;
    flush_block(g);
    fputc(0, g->f);
}

/* ---- pictures ---- */

/* Finds the rectangle [x0, x1) x [y0, y1) of all changed pixels; one pixel if there are none. */
static void changed(const abut_gif *g, const abut_image *im, int r[4])
{
    r[0] = g->w, r[1] = 0, r[2] = g->h, r[3] = 0;
    for (int y = 0; y < g->h; y++)
        for (int x = 0; x < g->w; x++) {
            const size_t at = 3 * ((size_t)y * (size_t)g->w + (size_t)x);
            if (g->n && !memcmp(im->rgb + at, g->before.rgb + at, 3)) continue;
            if (x < r[0]) r[0] = x;
            if (x >= r[1]) r[1] = x + 1;
            if (y < r[2]) r[2] = y;
            r[3] = y + 1;
        }
    if (r[0] >= r[1]) r[0] = r[2] = 0, r[1] = r[3] = 1;
}

abut_status abut_gif_picture(abut_gif *g, const abut_image *im, abut_err *err)
{
    int r[4];
    size_t n = 0;
    assert(im->w == g->w && im->h == g->h);
    changed(g, im, r);
    memset(g->bins, 0, BINS * sizeof *g->bins);
    for (int y = r[2]; y < r[3]; y++)
        for (int x = r[0]; x < r[1]; x++) {
            const uint8_t *rgb = im->rgb + 3 * ((size_t)y * (size_t)g->w + (size_t)x);
            bin *b = &g->bins[bin_of(rgb)];
            b->count++;
            for (int d = 0; d < 3; d++) b->sum[d] += rgb[d];
        }
    const abut_status rc = make_palette(g, err);
    if (rc) return rc;
    for (int y = r[2]; y < r[3]; y++)
        for (int x = r[0]; x < r[1]; x++)
            g->index[n++] = g->color_of[bin_of(im->rgb + 3 * ((size_t)y * (size_t)g->w + (size_t)x))];
    fwrite("\x21\xf9\x04\x04", 1, 4, g->f);     /* stays; then its time */
    put16(g->f, g->hundredths);
    fwrite("\0\0\x2c", 1, 3, g->f);
    put16(g->f, r[0]), put16(g->f, r[2]), put16(g->f, r[1] - r[0]), put16(g->f, r[3] - r[2]);
    fputc(0x87, g->f);                          /* a table of 256 colours */
    fwrite(g->palette, 1, sizeof g->palette, g->f);
    put_codes(g, n);
    memcpy(g->before.rgb, im->rgb, 3 * (size_t)g->w * (size_t)g->h);
    g->n++;
    return ABUT_OK;
}

void abut_gif_close(abut_gif *g) { if (g->n) fputc(0x3b, g->f); }

/* ---- films ---- */

struct abut_film {
    abut_out_file out;
    int w, h;
    abut_gif *gif;      /* NULL: ffmpeg */
    pid_t ffmpeg;       /* 0: none, or it has ended */
    int to;             /* it reads there; -1: closed */
};

/* Suffix of the name, and ffmpeg's names of the container and the codec; NULL: without ffmpeg. */
static const struct kind {
    const char *suffix, *container, *coding;
} kinds[] = { { ".gif", NULL, NULL }, { ".mp4", "mp4", "libx264" }, { ".mov", "mov", "libx264" },
              { ".mkv", "matroska", "libx264" }, { ".webm", "webm", "libvpx-vp9" } };

static const struct kind *kind_of(const char *path)
{
    const char *dot = strrchr(path, '.');
    for (size_t i = 0; dot && i < sizeof kinds / sizeof *kinds; i++)
        if (!strcmp(dot, kinds[i].suffix)) return &kinds[i];
    return NULL;
}

/* A program of that name in a folder of the PATH. */
static int is_on_path(const char *name)
{
    char path[4096];
    for (const char *p = getenv("PATH"); p && *p;) {
        const size_t n = strcspn(p, ":");
        if (n + strlen(name) + 2 < sizeof path) {
            snprintf(path, sizeof path, "%.*s/%s", (int)n, p, name);
            if (!access(path, X_OK)) return 1;
        }
        p += n + (p[n] == ':');
    }
    return 0;
}

abut_status abut_film_check(const char *path, abut_err *err)
{
    const struct kind *k = kind_of(path);
    if (!k) return abut_fail(err, ABUT_E_ARG, "'%.200s': expected a name that ends in .gif, .mp4, .mov, .mkv or .webm", path);
    if (k->container && !is_on_path("ffmpeg"))
        return abut_fail(err, ABUT_E_IO, "'%.200s' needs the program ffmpeg (Debian package ffmpeg); .gif needs none", path);
    return ABUT_OK;
}

/* Pictures go to its input by a socket: a send to one that has ended is an error, and no signal. */
static abut_status start_ffmpeg(abut_film *f, const struct kind *k, double per_second, abut_err *err)
{
    extern char **environ;
    char size[32], rate[32], *part;
    const char *out = f->out.part ? f->out.part : f->out.path;
    int pair[2];
    posix_spawn_file_actions_t actions;
    snprintf(size, sizeof size, "%dx%d", f->w, f->h);
    snprintf(rate, sizeof rate, "%.6g", per_second);
    if (!(part = malloc(strlen(out) + 6))) return abut_fail(err, ABUT_E_NOMEM, "%s: no memory for a name", out);
    sprintf(part, "file:%s", out);
    const char *const words[] = { "ffmpeg", "-nostdin", "-y", "-loglevel", "error", "-f", "rawvideo", "-pix_fmt", "rgb24",
                                  "-s", size, "-r", rate, "-i", "pipe:0", "-vf", "pad=ceil(iw/2)*2:ceil(ih/2)*2",
                                  "-pix_fmt", "yuv420p", "-c:v", k->coding, "-crf", "20", "-threads", "2",
                                  "-fflags", "+bitexact", "-flags:v", "+bitexact", "-f", k->container, part, NULL };
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair)) {
        free(part);
        return abut_fail(err, ABUT_E_IO, "no socket to ffmpeg: %s", strerror(errno));
    }
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, pair[1], 0);
    const int failed = posix_spawnp(&f->ffmpeg, "ffmpeg", &actions, NULL, (char *const *)words, environ);
    posix_spawn_file_actions_destroy(&actions);
    close(pair[1]);
    free(part);
    f->to = pair[0];
    if (!failed) return ABUT_OK;
    f->ffmpeg = 0;
    return abut_fail(err, ABUT_E_IO, "ffmpeg: %s", strerror(failed));
}

abut_status abut_film_open(const char *path, int keep, int w, int h, double per_second, abut_film **out, abut_err *err)
{
    abut_status rc = abut_film_check(path, err);
    if (rc) return rc;
    abut_film *f = calloc(1, sizeof *f);
    if (!f) return abut_fail(err, ABUT_E_NOMEM, "%s: no memory", path);
    *f = (abut_film){ .w = w, .h = h, .to = -1 };
    const struct kind *k = kind_of(path);
    rc = abut_out_open(&f->out, path, keep, err);
    if (!rc && k->container) rc = start_ffmpeg(f, k, per_second, err);
    /* many viewers take 1/100 s for something else */
    else if (!rc) rc = abut_gif_open(f->out.f, w, h, (int)fmax(2, lrint(100 / per_second)), &f->gif, err);
    if (rc) abut_film_free(&f);
    *out = f;
    return rc;
}

abut_status abut_film_picture(abut_film *f, const abut_image *im, abut_err *err)
{
    if (f->gif) return abut_gif_picture(f->gif, im, err);
    const uint8_t *p = im->rgb;
    for (size_t left = 3 * (size_t)f->w * (size_t)f->h; left;) {
        const ssize_t n = send(f->to, p, left, MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return abut_fail(err, ABUT_E_IO, "%s: ffmpeg has ended before the film: %s", f->out.path, strerror(errno));
        p += n, left -= (size_t)n;
    }
    return ABUT_OK;
}

/* Ends its input and waits; its exit status, -1 where a signal has ended it. */
static int end_ffmpeg(abut_film *f)
{
    int status = 0;
    close(f->to);
    f->to = -1;
    while (waitpid(f->ffmpeg, &status, 0) < 0 && errno == EINTR) {}
    f->ffmpeg = 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

abut_status abut_film_close(abut_film *f, abut_err *err)
{
    if (f->gif) abut_gif_close(f->gif);
    else {
        const int code = end_ffmpeg(f);
        if (code) return abut_fail(err, ABUT_E_IO, "%s: ffmpeg ended with %d", f->out.path, code);
    }
    return abut_out_close(&f->out, err);
}

void abut_film_free(abut_film **pf)
{
    abut_film *f = *pf;
    if (!f) return;
    if (f->ffmpeg) (void)end_ffmpeg(f);
    if (f->to >= 0) close(f->to);
    abut_gif_free(&f->gif);
    abut_out_drop(&f->out);
    free(f);
    *pf = NULL;
}
