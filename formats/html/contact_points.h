/* Where bodies touch in a frame, and with what force: for points and arrows. */
#ifndef ABUT_FORMATS_HTML_CONTACT_POINTS_H
#define ABUT_FORMATS_HTML_CONTACT_POINTS_H

#include "formats/result/frame_view.h"

/* Owns its array; zero-filled is empty. */
typedef struct abut_contact_points {
    int32_t n, cap;
    double (*at)[6];    /* [n] m: in the middle between what touches; N: the force on the first of both, minus that on the
                           other; NaN where the frame does not tell forces */
} abut_contact_points;

/** Takes them from the table of hard contacts where the frame has one (impulses over the length of the step), else the contacts
 * of the barrier within dhat.  Needs ABUT_WANT_CONTACT.  Fails  ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_contact_points_find(const abut_shot *s, abut_contact_points *out, abut_err *err);
void abut_contact_points_clear(abut_contact_points *p);

#endif
