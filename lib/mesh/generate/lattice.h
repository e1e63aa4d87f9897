/* Division of a cube into tets, shared by the generators. */
#ifndef ABUT_MESH_GENERATE_LATTICE_H
#define ABUT_MESH_GENERATE_LATTICE_H

/** Kuhn's six tets of a cube around its diagonal, from (-,-,-) to (+,+,+) unless flip[k] mirrors the cell along axis k.
 *
 * corner  of tet q, positively oriented: bit k of a corner is set where coordinate k is the larger one */
void abut_kuhn_cell(const int flip[3], int corner[6][4]);

#endif
