/* compare A B: how far the positions of two streams are apart, frame by frame: step, m, over the length of the scene. */
#include "stream_last.h"

#include <math.h>

static double apart(const stream_last *a, const stream_last *b, abut_err *err)
{
    abut_frame fa, fb;
    if (abut_frame_view(&a->frame, &a->model, &fa, err) || abut_frame_view(&b->frame, &b->model, &fb, err)) return NAN;
    double far = 0;
    for (int32_t i = 0; i < 3 * a->model.nv; i++) far = fmax(far, fabs(fa.x[i] - fb.x[i]));
    return far;
}

int main(int argc, char **argv)
{
    abut_err err = { 0 };
    stream_last s[2] = { { .head = { 0 } }, { .head = { 0 } } };
    if (argc != 3) return fprintf(stderr, "usage: compare A B\n"), 2;
    abut_status rc = stream_last_open(&s[0], argv[1], &err);
    if (!rc) rc = stream_last_open(&s[1], argv[2], &err);
    while (!rc) {
        rc = stream_last_next(&s[0], &err);
        if (!rc) rc = stream_last_next(&s[1], &err);
        if (rc || s[0].item == ABUT_ITEM_END || s[1].item == ABUT_ITEM_END) break;
        if (s[0].item != ABUT_ITEM_FRAME || s[1].item != ABUT_ITEM_FRAME) continue;
        if (s[0].model.nv != s[1].model.nv || s[0].head.step != s[1].head.step)
            rc = abut_fail(&err, ABUT_E_FORMAT, "not the same scene");
        const double far = rc ? 0 : apart(&s[0], &s[1], &err);
        if (!rc) printf("%lld\t%.3g\t%.3g\n", (long long)s[0].head.step, far, far / s[0].model.length[0]);
    }
    if (rc) fprintf(stderr, "compare: %s\n", err.msg);
    stream_last_clear(&s[0]);
    stream_last_clear(&s[1]);
    return rc != ABUT_OK;
}
