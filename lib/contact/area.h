/* Contact weighed by area: a quadrature of the surface integral kappa Int beta(distance to what is nearest), whose energy between
 * parallel surfaces is area times beta(gap) for any two meshes (convergent IPC, Li et al. 2023, 3-4).
 *
 *     beta(d) = dhat / Dhat^2 b(D)    m, b a law of energy/barrier_laws.h, so that kappa is a pressure
 *
 * Vertices.  Vertex p of area A_p meets every cell sigma (triangle, edge, vertex) of a part of the surface with the integer
 * c(sigma), the Euler coefficient:
 *
 *     c(sigma) = 1 - sum c(tau) over the cells tau that contain sigma properly
 *
 * (triangle 1; inner edge -1, rim edge 0; inner vertex 1, rim vertex 0).  Where the surface within dhat of p is one disc the sum
 * over sigma is beta(distance of p from the surface): by the nerve theorem sum c(sigma) [ball meets sigma] is the Euler
 * characteristic of the surface in the ball.  Cells that contain p are left out, so a disc around p has sum 0: a flat sheet does
 * not repel itself at any dhat.  A contact is an active feature with its net integer, 0 for most.  Its weight is
 *
 *     s_AB A_p,    s_AB = a_B^2 / (a_A^2 + a_B^2),  a the mean area of the vertices of a part (a connected surface)
 *
 * so that the finer of two surfaces is integrated, and 1/2 within one surface.  A half-space has weight A_p.  Where a_B = r a_A,
 * the vertices of B, one for r of A, put r s_BA A_p on as few as one of them: pressures on A deviate by s_BA sqrt(r - 1),
 * which is 0.22 at most; without the squares it would be 0.36.
 * An obstacle has the a of its corners alone: area over the number of vertices where it is neither flat nor a straight edge.
 * Every triangulation of a flat table is then one polygon, and a body that slides on it feels none of its vertices.
 * Its vertices on sharp edges keep at least A_B / (A_p + A_B), A_B the mean area of B's: edges that cross there fade out.
 *
 * Sharp vertices.  Where triangles at p meet at more than 50 degrees at rest, each smooth patch of them counts by itself beside
 * another part.  It meets triangle t with the share F_t = S((n.N)^2): n and N are the normals of t and of the patch now, S a
 * smooth step from 0 at 77 degrees to 1 at 45.  So the side of a block does not press on its floor.  What has F above a number is
 * a surface with rims and has Euler coefficients of its own; the patch has the integral of their sums by that number.  Each of
 * them repels, and each cell has one weight, so forces do not jump where the nearest feature changes; with S of the direction to
 * the feature they would, and saddles could outweigh their minima: a fold would draw a corner in.  In its own part p has its
 * whole area.  A sharp edge has half of its width.  A corner of a rim, where that turns by more than 30 degrees, is one patch of
 * share s + (1 - s) min(1, a_B / its area): no vertex of the other part need be near it.
 *
 * Tips.  No patch of a needle faces what it runs into.  S is at least 0.01 at sharp vertices whose patches are all steep at rest
 * in a direction in which no edge of theirs leads on: the least eigenvalue of the sum of N N^T is below 1/2 (at a cube's corner
 * 1), its eigenvector is not within 30 degrees of edges both ways.
 *
 * Sharp edges and rims.  Where n leads away from their faces they bear: in place of eta_AB they have
 *
 *     eta_AB + (theta - eta_AB) (a + a') + (1 - 2 theta + eta_AB) a a',    a = product of 1 - T((n.N)^2) over the faces
 *
 * (with the theta of each of both edges), 0 for an edge that is not sharp.  theta = min(1, eta l / l'), at least eta_AB, is the
 * share of an edge of length l beside a smooth surface of mean length l', as of a rod; two sharp edges that both point away from
 * their faces bear all.  What is beyond eta_AB has gamma = 1, and an M that is 1 from a tenth of the reach before the ends on:
 * beside the end of an edge its vertex is then within reach.
 *
 * Edges.  Two edges meet where both nearest points are inside, with weight
 *
 *     eta_AB pi/2 u_e u_e' F,    u_e = A_e / L_e,    F = e(c) M gamma gamma'
 *
 * eta_AB is eta times the smaller over the larger mean length of the edges of the two parts: few edges of a coarse mesh must not
 * carry the force of the wide strips that they stand for.  u_e is the width of the strip that an edge stands for: straight
 * networks of length 1/u a unit of area, in isotropic relative direction, cross 2/(pi u u') times.  M fades a crossing out at
 * the ends of the edges, whose vertices are as near there, so that the energy is C1; gamma where the crossing is no minimum of
 * the distance because a triangle of the edge leads towards the other edge (Huang et al. 2025, GCP, 4); e(c) where the edges are
 * parallel (geom/dist.h).  An end at s beyond the other edge, whose triangle there falls away from n by the angle phi, is
 * s sin phi higher: M rises within z, 1 / z^2 = 1 / z0^2 + (sin phi / 2 d)^2, z0 a twentieth of the shorter edge.  Edges act in
 *
 *     r = min(dhat, l / 2),   l the smaller mean length of the edges of the two parts
 *
 * because the gradient of M moves forces from vertex to vertex, 10 d / l times as large as the force itself.  What they add on
 * average the law of a vertex leaves out: beta(d; dhat) - eta_AB beta(d; r), so that both together are beta(d; dhat).
 *
 * Guard.  The sum over vertices does not see a vertex that runs into the edge opposite to it in its own triangle: the pair gets
 * weight A_p / 2 within min(dhat, a quarter of its rest distance).
 *
 * Rods and particles.  A rod is a chain of vertices of area diameter times length and of edges of width diameter; a particle has
 * the area of its cross-section.  Against a surface they are integrated alone (s = 1).  Edges of rods have the barrier of their
 * nearest features, as in Li 2020, with the mollifier of parallel edges, M = gamma = 1: two rods with the weight u u', a rod and
 * the side of a triangle with min(1, eta l / l') pi/2 u u', l and l' their mean lengths: where vertices of the rod are far apart
 * its edges bear.  Edges inside a plane face of an obstacle meet no rod: a vertex of the rod, or the border of the face, is as
 * near, and a rod that sags would be pulled along.  Bare points and edges of obstacles take the mean area of what they meet.
 *
 * Reach.  Within one part contact acts within half the rest distance of what is nearest there and counts, at most dhat: thin
 * walls and narrow slits rest. */
#ifndef ABUT_CONTACT_AREA_H
#define ABUT_CONTACT_AREA_H

#include "contact/pairs.h"

/* ---- area.c: the rest shape ---- */

/* Areas, coefficients and reach of a collision mesh at rest.  Owns its arrays. */
typedef struct abut_area {
    double eta;                 /* share of the edges, in (0, 1) */
    int32_t parts;
    int32_t *part;              /* [nc] connected part */
    uint8_t *thin;              /* [nc] 1: in no triangle */
    double *mean;               /* [parts] m^2, mean area of its vertices, of an obstacle of its corners */
    double *length;             /* [parts] m, mean length of its edges */
    uint8_t *sharp;             /* [ne] 1: an edge of one triangle, or of two that are not one smooth surface */
    uint8_t *on_edge;           /* [nc] 1: of an obstacle, on a sharp edge */
    uint8_t *tip;               /* [nc] 1: sharp, and its patches may all be steep where it points */
    double *vertex, *width;     /* [nc] m^2: A_v, a third of the triangles at it; [ne] m: u_e */
    int32_t *of_vertex, *of_edge;   /* [nc], [ne] Euler coefficients */
    int32_t *first;             /* [nc + 1] patches of a sharp vertex, none of others */
    double *patch;              /* [patches] m^2 */
    int32_t (*normal)[2];       /* [patches] a, b: (a - p) x (b - p) is the normal of the patch */
    int32_t *around_first, *around;     /* [nc + 1], [3 nt] triangles at each vertex */
    int32_t (*side)[3];         /* [nt] edges 01, 12, 20 of a triangle */
    int32_t (*wing)[2];         /* [ne] vertices opposite to the edge in its first two triangles, -1: none */
    double *vertex_reach, *edge_reach;  /* [nc], [ne] m: reach within the part, +inf: dhat; NULL: dhat everywhere */
    int32_t *guard_first;       /* [nt + 1] guards of each triangle; NULL: not yet found */
    int32_t (*guard)[3];        /* vertex, and the edge opposite to it; PE stencils */
    double *guard_reach;        /* m */
    double *guard_within;       /* [nt] m, largest reach and thickness of them */
    struct abut_flat *flat;     /* NULL: no part is flat at rest */
} abut_area;

/** Computes cm->area of the rest shape of a model whose contact is weighed by area; does nothing if it is not.
 * Fails  ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_area_init(abut_collmesh *cm, abut_err *err);
void abut_area_clear(abut_area *a);

/* ---- area_flat.c: parts that are flat at rest, whose neighbours need no search ----
 *
 * A part is flat if its rest shape is plane, every edge has one or two triangles, and nothing of it touches or overlaps.  u is
 * the place of a point of it in that plane, F = dx/du of a triangle.  In a square of cells of the plane let
 *
 *     |t.(F - A) v| <= p |v| along the plane of A,   |n.(F - A) v| <= q |v| across it,   s1 >= s2 the singular values of A
 *
 * for all triangles that meet the square, at all times of a motion, and let rims turn only outward there, so that the part of
 * the surface in it is convex.  Then any chord and any edge in it are A u + r, |r| bounded so, and the product of two differs
 * from that of A u and A u' by d |A u| |A u'| at most, d = (2 s1 p + p^2 + q^2) / s2^2.  With d < 1/4 and 2 d s1 / s2 below the
 * least sine of an angle of a triangle, the features of any two cells are those of a plane triangulation: of a vertex and a
 * face, foot outside; of an edge, one of its triangles leads to the vertex and the other away; around a vertex, those edges that
 * lead there follow each other.  So all Euler coefficients add up to 0, gamma of two edges is 0, and distances change by a
 * quarter in the motion: there is neither a contact nor a collision.  Sharp edges, whose share has no gamma, act within half a
 * mean edge and a thickness, a third of one at most: at rest 1.4 mean edges, as distances are at least 0.61 of those at rest. */

/** Finds the flat parts of the rest shape Y.
 * Fails  ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_flat_init(abut_collmesh *cm, const double *Y, abut_err *err);
void abut_flat_free(struct abut_flat **f);
/** *quiet: the squares that are certified for the motion y0 -> y1 (NULL: at y0); NULL if no part is flat.
 * room  memory for the next call, of the caller
 * Fails  ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_flat_certify(const abut_collmesh *cm, const double *y0, const double *y1,
                                            struct abut_flat_room **room, const abut_quiet **quiet, abut_err *err);
void abut_flat_room_free(struct abut_flat_room **room);
/** 1: vertices p and q are of one flat part. */
int abut_flat_has(const abut_area *a, int32_t p, int32_t q);

/* ---- area_weight.c: reach, weights and factors ---- */

/** Distance within which vertex p, and edge e, meets what is at vertex q; edges e and e' meet; m. */
double abut_area_vertex_reach(const abut_collmesh *cm, int32_t p, int32_t q);
double abut_area_edge_reach(const abut_collmesh *cm, int32_t e, int32_t other);

/** r of contact i of a vertex, m, and eta_AB beta(d; r) / beta(d; dhat) in terms of b, which is inner_part of
 * energy/barrier_law_inline.h; 0 where the weight says it. */
double abut_area_inner(const abut_collmesh *cm, const abut_pairs *p, size_t i, double *part);

/* Second entry of `of`: of a guard; of a pair of edges, one of them of a rod, whose nearest feature the contact is: the second
 * edge f. */
enum { ABUT_AREA_GUARD = -2, ABUT_AREA_ROD = -4 };
static inline int32_t abut_area_of_rod(int32_t f) { return ABUT_AREA_ROD - f; }
/** 1: contact i is one of edges e and f. */
static inline int abut_area_edges(const abut_pairs *p, size_t i, int32_t *e, int32_t *f)
{
    const int rod = p->of[i][1] <= ABUT_AREA_ROD;
    *e = p->of[i][0], *f = rod ? abut_area_of_rod(p->of[i][1]) : p->of[i][1];
    return rod || p->kind[i] == ABUT_EE;
}

/* Corners of two edges: a0 a1, b0 b1, the wings of the first and of the second. */
enum { ABUT_AREA_CORNERS = 8 };
/** F of contact i at y, with its corners v (-1: none): of an EE contact, of the patch of a sharp vertex, else 1.
 * H: nothing is written if bends is 0. */
double abut_area_factor_of(const abut_collmesh *cm, const abut_pairs *p, size_t i, const double *y,
                           int32_t v[ABUT_AREA_CORNERS], double *g, double *H, int *bends);

/** S of a patch of vertex `owner` and triangle `face` of another part, in [0, 1]. */
double abut_area_faces(const abut_collmesh *cm, int32_t owner, int32_t patch, int32_t face, const double *y);

/** Turns the net integers in mult of contacts found at y into weights times dhat / Dhat^2, 1/m; leaves out those of weight 0 and
 * lists the edges whose factor varies. */
void abut_area_weigh(const abut_collmesh *cm, const double *y, abut_pairs *p);
/** Weight of vertex v, or of its patch, -1: none, at a half-space of normal n, 1/m: over its factor, and that factor at y with
 * the gradient g[9] and Hessian H[81] in v and the corners of the patch (NULL to skip). */
double abut_area_plane_weight(const abut_collmesh *cm, int32_t v, int32_t patch);
double abut_area_plane_factor(const abut_collmesh *cm, int32_t v, int32_t patch, const double n[3], const double *y, double *g,
                              double *H);

/* ---- area_find.c: contacts among the candidates ---- */

/** Patches of vertex p that are contacts of their own, at least 1. */
static inline size_t abut_area_shares(const abut_area *a, int32_t p)
{
    const int32_t n = a->first[p + 1] - a->first[p];
    return n ? (size_t)n : 1;
}
/** Adds the contacts of block b of a list of candidates of kind s, each vertex with the block where its candidates begin; sets
 * spot->bad.  f->full is set if memory is missing. */
void abut_area_find_block(const abut_collmesh *cm, const abut_pair_list *list, abut_stencil s, size_t b, const double *y,
                          abut_finds *f, abut_spot *spot);
/** Adds the guards that act, at *spot. */
void abut_area_find_guards(const abut_collmesh *cm, const double *y, abut_finds *f, abut_spot *spot);
/** Fills out, which has room, with n sorted contacts and their net integers in mult.  Only two vertices may have a twin, with
 * the area of the other. */
void abut_area_merge(const abut_collmesh *cm, const abut_raw *c, size_t n, abut_pairs *out);

#endif
