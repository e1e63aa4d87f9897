/* Points of contact in a frame, and their forces: for points and arrows. */
#ifndef ABUT_FORMATS_HTML_CONTACT_POINTS_H
#define ABUT_FORMATS_HTML_CONTACT_POINTS_H

#include "formats/result/frame_view.h"

/* Owns its array; zero-filled is empty. */
typedef struct abut_contact_points {
    int32_t n, cap;
    double (*at)[6];    /* [n] m: midpoint of the contact; N: force on its first primitive, opposite to that on the second;
                           NaN if the frame has no forces */
} abut_contact_points;

/** Finds them in the frame's table of hard contacts (impulses over the length of the step); without one, takes the contacts of
 * the barrier within dhat.  Needs ABUT_WANT_CONTACT.  Fails  ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_contact_points_find(const abut_shot *s, abut_contact_points *out, abut_err *err);
void abut_contact_points_clear(abut_contact_points *p);

#endif
