#include "formats/result/summary.h"

#include "base/words.h"
#include "formats/stream/dump.h"
#include "model/naming.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void abut_summary_history(FILE *f, const abut_prov *prov, int n)
{
    for (int i = 0; i < n; i++) {
        abut_print_line(f, prov[i].tool);
        fprintf(f, "%*s ", strlen(prov[i].tool) < 12 ? (int)(12 - strlen(prov[i].tool)) : 0, "");
        abut_print_line(f, prov[i].version);
        fputs("  ", f);
        abut_print_line(f, prov[i].options ? prov[i].options : "");
        putc('\n', f);
    }
}

static void objects(FILE *f, const abut_model *m, const abut_parts *parts)
{
    fprintf(f, "\n%-20s %10s %9s %9s %9s %8s %8s\n", "object", "", "nodes", "tets", "triangles", "segments", "points");
    for (int32_t k = 0; k < parts->n; k++) {
        const abut_part *p = &parts->part[k];
        int32_t nodes = 0, tets = 0;
        for (int32_t i = 0; i < m->nv; i++) nodes += m->body[i] == p->object;
        for (int32_t t = 0; t < m->nt; t++) tets += m->body[m->tet[4 * t]] == p->object;
        fprintf(f, "%-20s %10s %9d %9d %9d %8d %8d\n", p->name, p->obstacle ? "obstacle" : "body", nodes, tets, p->ntri, p->nseg,
                p->npoint);
    }
    if (m->nsh)
        fprintf(f, "shells: %d triangle%s, %d hinge%s%s\n", m->nsh, abut_s(m->nsh), m->nhg, abut_s(m->nhg),
                m->shell_limit ? ", limits of stretch" : "");
    if (m->nrd) fprintf(f, "rods: %d segment%s, %d bend%s\n", m->nrd, abut_s(m->nrd), m->nbd, abut_s(m->nbd));
    if (m->np) fprintf(f, "particles: %d\n", m->np);
    for (int32_t i = 0; i < parts->n_plane; i++) {
        const double *p = m->hs_point + 3 * parts->plane[i], *n = m->hs_normal + 3 * parts->plane[i];
        char name[ABUT_OBJECT_WORDS];
        fprintf(f, "%s: point (%g, %g, %g) m, normal (%g, %g, %g)\n", abut_half_space_words(m, parts->plane[i], name), p[0], p[1],
                p[2], n[0], n[1], n[2]);
    }
}

static void materials(FILE *f, const abut_arrays *set, const abut_model *m)
{
    char name[ABUT_PART_NAME];
    for (int32_t i = 0; i < m->nm; i++) {
        const int32_t k = m->mat_model[i];
        fprintf(f, "material %-11s %s, density %g kg/m^3, Young's modulus %g Pa, Poisson's ratio %g\n",
                abut_text_row(set, "material/name", i, name, sizeof name),
                abut_material_names[k], m->mat_density[i], m->mat_young[i], m->mat_poisson[i]);
    }
}

/* Motions that keep their nodes where they are. */
static int32_t rests(const abut_model *m)
{
    int32_t n = 0;
    for (int32_t k = 0; k < m->nmo; k++) {
        int moves = m->mo_kind[k] != ABUT_MOTION_MOVE;
        for (int d = 3 * k; d < 3 * k + 3; d++)
            moves |= m->mo_linear[d] != 0 || m->mo_angular[d] != 0 || (m->mo_scale && m->mo_scale[d] != 0);
        n += !moves;
    }
    return n;
}

static void model(FILE *f, const abut_arrays *set, const abut_model *m, const abut_parts *parts)
{
    objects(f, m, parts);
    materials(f, set, m);
    fprintf(f, "time step %g s, gravity (%g, %g, %g) m/s^2, length of the scene %g m\n", m->h[0], m->gravity[0], m->gravity[1],
            m->gravity[2], m->length[0]);
    if (!m->nc) fprintf(f, "contact off; ");
    fprintf(f, "contact within %g m, stiction speed %g m/s, tolerance %g m/s, %d motion%s", m->dhat[0], m->eps_v[0],
            m->tolerance[0], m->nmo - rests(m), abut_s(m->nmo - rests(m)));
    if (rests(m)) fprintf(f, ", nodes fixed or held %d time%s", rests(m), abut_s(rests(m)));
    fputc('\n', f);
    if (m->force_tolerance) fprintf(f, "forces are to balance to %g of the largest on a body\n", m->force_tolerance[0]);
}

/* The arrays of a frame with their shapes, in lines of at most 100 letters; longer names go on lines of their own. */
static abut_status list_arrays(const abut_arrays *set, char **text, abut_err *err)
{
    enum { LINE = 100, INDENT = 4, ONE = ABUT_NAME_MAX + 1 + 21 * ABUT_RANK_MAX + 2 };
    const size_t room = (size_t)set->n * (ONE + 1 + INDENT) + 16;
    size_t at = 0, column = sizeof "its arrays:" - 1;
    char one[ONE];
    free(*text);
    *text = calloc(room, 1);
    if (!*text) return abut_fail(err, ABUT_E_NOMEM, "no memory for the names of %d arrays", set->n);
    for (int i = 0; i < set->n; i++) {
        const abut_array *a = &set->a[i];
        size_t n = (size_t)snprintf(one, sizeof one, "%s", a->name);
        for (int d = 0; d < a->rank; d++)
            n += (size_t)snprintf(one + n, sizeof one - n, "%s%lld", d ? "x" : " ", (long long)a->shape[d]);
        if (i + 1 < set->n) one[n++] = ',', one[n] = 0;
        const int wrap = column + 1 + n > LINE;
        at += (size_t)snprintf(*text + at, room - at, "%s%s", wrap ? "\n    " : " ", one);
        column = wrap ? INDENT + n : column + 1 + n;
    }
    return ABUT_OK;
}

abut_status abut_summary_frame(abut_summary *s, FILE *f, const abut_shot *shot, abut_err *err)
{
    if (s->n && s->model_index != shot->model_index) abut_summary_end(s, f);
    if (!s->n) {
        model(f, shot->model_set, shot->model, shot->parts);
        s->first = *shot->head;
        s->force_residual = -1;
        s->model_index = shot->model_index;
    }
    s->n++;
    if (shot->frame->force_residual) s->force_residual = fmax(s->force_residual, shot->frame->force_residual[0]);
    s->last = *shot->head;
    return list_arrays(shot->frame_set, &s->arrays, err);
}

void abut_summary_end(abut_summary *s, FILE *f)
{
    fprintf(f, "\n%d frame%s: steps %lld to %lld, %g s to %g s%s\n", s->n, s->n == 1 ? "" : "s",
            (long long)s->first.step, (long long)s->last.step, s->first.time, s->last.time,
            s->last.phase == ABUT_PENDING ? ", the last one pending" : "");
    if (s->force_residual >= 0) fprintf(f, "forces balance to %.2g of the largest on a body, or better\n", s->force_residual);
    fprintf(f, "its arrays:%s\n", s->arrays ? s->arrays : "");
    s->n = 0;
}

void abut_summary_clear(abut_summary *s)
{
    free(s->arrays);
    *s = (abut_summary){ 0 };
}
