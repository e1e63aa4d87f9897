/* VTK unstructured grids for ParaView: one .vtu per frame and kind of body, and scene.pvd that puts them in time.
 *
 * DIR/solids_0012.vtu   tets: points with displacement, velocity, contact_force, object, node;
 *                       cells with J, von_mises_stress, material, tet; and cauchy_stress and deformation_gradient, [9] row
 *                       major, where the fields F and sigma are there
 * DIR/others_0012.vtu   triangles, segments, isolated points of objects without tets (obstacles)
 * DIR/contacts_0012.vtu  hard contacts as points, of frames that have the table touch/: normal, impulse, mu, state
 * The number is the frame's place in the stream.  Arrays of the stream that abut itself does not know are written too,
 * under their names, when their first dimension is the number of nodes or of tets.  EXPORT.md has the details. */
#ifndef ABUT_FORMATS_RESULT_VTU_H
#define ABUT_FORMATS_RESULT_VTU_H

#include "formats/result/frame_view.h"

typedef struct abut_vtu abut_vtu;

/** Starts a series in folder dir (made if missing).  Fails  ABUT_E_IO, ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_vtu_open(const char *dir, int keep, abut_vtu **w, abut_err *err);
/** Writes the grids of one frame; uses fields J, stress, force.  Fails  ABUT_E_IO, ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_vtu_frame(abut_vtu *w, const abut_shot *s, abut_err *err);
/** Writes scene.pvd.  Without this call there is none. */
ABUT_MUST_USE abut_status abut_vtu_close(abut_vtu *w, abut_err *err);
void abut_vtu_free(abut_vtu **w);

#endif
