#include "formats/result/palette.h"

#include <math.h>

static void unpack(uint32_t hex, float rgb[3])
{
    for (int d = 0; d < 3; d++) rgb[d] = (float)(hex >> (16 - 8 * d) & 255) / 255.0f;
}

void abut_palette_object(int32_t object, int obstacle, float rgb[3])
{
    static const uint32_t color[12] = { 0xe8825a, 0x4f9fc6, 0xe3b94c, 0x6fae75, 0xb57bb8, 0xd8637c,
                                        0x5fb8ad, 0xa68a64, 0x7f8fd1, 0xc7a0a8, 0x93a94a, 0x5e7f99 };
    unpack(obstacle ? 0xa9adb3 : color[(uint32_t)object % 12], rgb);
}

void abut_palette_scale(double u, float rgb[3])
{
    static const uint32_t station[11] = { 0xa6c6de, 0xcfd3b9, 0xefcd80, 0xf5b35c, 0xf0954c, 0xe47349,
                                          0xd2524f, 0xb63a5b, 0x932b66, 0x6d2268, 0x451a58 };
    if (isnan(u)) {
        rgb[0] = rgb[1] = rgb[2] = 0.6f;
        return;
    }
    const double at = 10 * fmin(fmax(u, 0), 1);
    const int i = at >= 10 ? 9 : (int)at;
    const float w = (float)(at - i);
    float a[3], b[3];
    unpack(station[i], a);
    unpack(station[i + 1], b);
    for (int d = 0; d < 3; d++) rgb[d] = a[d] + w * (b[d] - a[d]);
}

float abut_srgb_to_linear(float c)
{
    return c <= 0.04045f ? c / 12.92f : powf((c + 0.055f) / 1.055f, 2.4f);
}
