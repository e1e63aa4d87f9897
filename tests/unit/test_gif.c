/* GIF files of image.h, read back by a decoder of its own (GIF89a): pixels are those of the pictures. */
#include "check.h"
#include "formats/picture/image.h"

enum { W = 61, H = 47, ROOM = 1 << 22 };

static uint8_t file[ROOM], shown[3 * W * H];
static size_t at, end;

static int byte(void) { return at < end ? file[at++] : -1; }
static int word(void)
{
    const int lo = byte();
    return lo | byte() << 8;
}

/* Codes of a picture into index[n]; returns how many came, -1 for what is no such data. */
static int decode(uint8_t *index, int n)
{
    static int prefix[4096];
    static uint8_t last[4096], stack[4097];
    int width = 9, next = 258, before = -1, got = 0, have = 0, ended = 0;
    unsigned bits = 0;
    if (byte() != 8) return -1;
    for (int left = byte(); left > 0; left = byte())
        for (; left > 0; left--) {
            bits |= (unsigned)byte() << have;
            have += 8;
            while (have >= width && !ended) {
                const int code = (int)(bits & ((1u << width) - 1));
                bits >>= width, have -= width;
                if (code == 257) {
                    ended = 1;
                    break;
                }
                if (code == 256) {
                    width = 9, next = 258, before = -1;
                    continue;
                }
                if (code > next || (code == next && before < 0)) return -1;
                int c = code == next ? before : code, depth = 0;
                for (; c >= 258; c = prefix[c]) stack[depth++] = last[c];
                stack[depth++] = (uint8_t)c;
                if (code == next) memmove(stack + 1, stack, (size_t)depth), stack[0] = (uint8_t)c, depth++;
                if (before >= 0 && next < 4096) prefix[next] = before, last[next] = (uint8_t)c, next++;
                if (next == 1 << width && width < 12) width++;
                if (got + depth > n) return -1;
                while (depth) index[got++] = stack[--depth];
                before = code;
            }
        }
    return ended ? got : -1;
}

/* Reads the next picture over the present one; returns its time, -1 at the end, -2 if it is no GIF. */
static int next_picture(void)
{
    static uint8_t index[W * H], palette[768];
    const int kind = byte();
    if (kind == 0x3b) return at == end ? -1 : -2;
    if (kind != 0x21 || byte() != 0xf9 || byte() != 4) return -2;
    (void)byte();
    const int hundredths = word();
    (void)byte();
    if (byte() || byte() != 0x2c) return -2;
    const int x = word(), y = word(), w = word(), h = word();
    if (w < 1 || h < 1 || x + w > W || y + h > H || byte() != 0x87) return -2;
    for (int i = 0; i < 768; i++) palette[i] = (uint8_t)byte();
    if (decode(index, w * h) != w * h) return -2;
    for (int i = 0; i < w * h; i++) memcpy(shown + 3 * ((y + i / w) * W + x + i % w), palette + 3 * index[i], 3);
    return hundredths;
}

static unsigned long long seed = 5;
static unsigned chance(void)
{
    seed = seed * 6364136223846793005ull + 1442695040888963407ull;
    return (unsigned)(seed >> 40);
}

/* kind 0: few colours; 1: noise; 2: ramps; 3: one colour; 4: as before but for one pixel */
static void fill(abut_image *im, int kind, int n)
{
    for (int i = 0; i < W * H && kind != 4; i++)
        for (int d = 0; d < 3; d++)
            im->rgb[3 * i + d] = (uint8_t)(kind == 0 ? 51 * ((i / (7 + n) + d) % 6) : kind == 1 ? (int)(chance() & 255)
                                         : kind == 2 ? (i % W) * (d + 1) * 255 / (3 * W) : 40 * d + n);
    if (kind == 4) im->rgb[3 * (W + 5) + 1] ^= 255;
}

static int worst(const abut_image *im)
{
    int w = 0;
    for (int i = 0; i < 3 * W * H; i++) w = abs(im->rgb[i] - shown[i]) > w ? abs(im->rgb[i] - shown[i]) : w;
    return w;
}

TEST(pictures_read_back_are_those_that_were_written)
{
    static const int kind[] = { 0, 4, 1, 2, 2, 3, 4, 1, 0 };
    static const int within[] = { 0, 0, 80, 12, 12, 0, 0, 80, 0 };   /* noise has more colours than 256 can be near */
    enum { N = sizeof kind / sizeof *kind };
    static abut_image im[N];
    abut_err err = { 0 };
    abut_gif *g = NULL;
    FILE *f = tmpfile();
    CHECK(abut_gif_open(f, W, H, 7, &g, &err) == ABUT_OK);
    for (int k = 0; k < N; k++) {
        CHECK(abut_image_make(&im[k], W, H, (const uint8_t[3]){ 0, 0, 0 }, &err) == ABUT_OK);
        if (kind[k] == 4) memcpy(im[k].rgb, im[k - 1].rgb, 3 * W * H);
        fill(&im[k], kind[k], k);
        CHECK(abut_gif_picture(g, &im[k], &err) == ABUT_OK);
    }
    abut_gif_close(g);
    abut_gif_free(&g);
    rewind(f);
    end = fread(file, 1, ROOM, f);
    fclose(f);
    at = 0;
    CHECK(!memcmp(file, "GIF89a", 6));
    at = 6;
    CHECK(word() == W && word() == H);
    at = 13 + 19;
    for (int k = 0; k < N; k++) {
        CHECK(next_picture() == 7);
        if (worst(&im[k]) > within[k]) printf("# picture %d: off by %d\n", k, worst(&im[k]));
        CHECK(worst(&im[k]) <= within[k]);
    }
    CHECK(next_picture() == -1);
    for (int k = 0; k < N; k++) abut_image_clear(&im[k]);
}

TEST(what_does_not_change_costs_nothing)
{
    abut_err err = { 0 };
    abut_gif *g = NULL;
    abut_image im = { 0 };
    FILE *f = tmpfile();
    CHECK(abut_image_make(&im, W, H, (const uint8_t[3]){ 9, 99, 199 }, &err) == ABUT_OK);
    fill(&im, 1, 0);
    CHECK(abut_gif_open(f, W, H, 4, &g, &err) == ABUT_OK);
    CHECK(abut_gif_picture(g, &im, &err) == ABUT_OK);
    const long first = ftell(f);
    CHECK(abut_gif_picture(g, &im, &err) == ABUT_OK);
    CHECK(ftell(f) - first < 900);
    abut_gif_free(&g);
    abut_image_clear(&im);
    fclose(f);
}
