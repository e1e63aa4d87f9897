#include "adjoint/bars.h"

#include "solve/integrator.h"

#include <stdlib.h>
#include <string.h>

abut_status abut_state_bar_init(abut_state_bar *s, const abut_model *m, abut_err *err)
{
    const int scheme = m->scheme ? m->scheme[0] : ABUT_IMPLICIT_EULER, past = abut_integrator_past(scheme);
    double **field[3 + 2 * ABUT_PAST] = { &s->x, &s->v, &s->a };
    int n = 3;
    *s = (abut_state_bar){ 0 };
    for (int k = 0; k < past; k++) field[n++] = &s->past_x[k], field[n++] = &s->past_v[k];
    for (int i = 0; i < n; i++) {
        *field[i] = calloc(3 * (size_t)m->nv + 1, sizeof(double));
        if (*field[i]) continue;
        abut_state_bar_clear(s);
        return abut_fail(err, ABUT_E_NOMEM, "derivatives by the state of %d nodes", m->nv);
    }
    return ABUT_OK;
}

void abut_state_bar_zero(abut_state_bar *s, const abut_model *m)
{
    const size_t bytes = 3 * (size_t)m->nv * sizeof(double);
    memset(s->x, 0, bytes);
    memset(s->v, 0, bytes);
    memset(s->a, 0, bytes);
    for (int k = 0; k < ABUT_PAST && s->past_x[k]; k++) memset(s->past_x[k], 0, bytes), memset(s->past_v[k], 0, bytes);
}

void abut_state_bar_clear(abut_state_bar *s)
{
    free(s->x);
    free(s->v);
    free(s->a);
    for (int k = 0; k < ABUT_PAST; k++) free(s->past_x[k]), free(s->past_v[k]);
    *s = (abut_state_bar){ 0 };
}

void abut_parameter_bar_rows(abut_parameter_bar *p, const abut_model *m, abut_bar_row *row)
{
    const int64_t nv = m->nv, nt = m->nt, nm = m->nm, no = m->no, ngg = (int64_t)m->ng * m->ng, one = 1, nsp = m->nsp, na = m->na,
                  nhg = m->nhg, nbd = m->nbd, nsh = m->nsh, nrd = m->nrd, nmo = m->nmo, nk = m->nk, npx = m->npx;
#define ROW(member, name, count, width, unit) *row++ = (abut_bar_row){ name, unit, &p->member, count, width };
    ABUT_PARAMETER_BARS(ROW)
#undef ROW
}

const char *abut_parameter_bar_lacks(const abut_model *m, const char *name)
{
    int cloth = 0;
    for (int32_t i = 0; i < m->nsh; i++) cloth |= m->mat_membrane && m->mat_membrane[m->shell_mat[i]] == ABUT_MEMBRANE_CLOTH;
    if (m->np && !strcmp(name, "material/density")) return "particles do not say which material they are of";
    const int young = !strcmp(name, "shell/young") || !strcmp(name, "object/young");
    if (cloth && young) return "the strain bounds of cloth are no factor of it";
    const int rest = !strcmp(name, "node/X") || !strcmp(name, "mesh/X");
    if (rest && (m->nsh || m->nrd)) return "shells and rods have rest shapes of their own, which it would have to move";
    if (rest && m->map_first) return "the contact surface is made of weights, which it would have to move";
    if (rest && m->mat_fibre) return "fibres are not differentiated by the shape";
    if (rest && m->damp_stiffness && m->damp_stiffness[0] > 0) return "damping by stiffness is not differentiated by the shape";
    if (cloth && !strcmp(name, "object/thickness")) return "the strain bounds of cloth are no factor of it";
    if (!strcmp(name, "object/pressure") && !m->obj_pressure) return "no object is under pressure";
    if ((!strcmp(name, "object/drag") || !strcmp(name, "world/wind")) && !m->obj_drag) return "nothing is dragged";
    if (!strcmp(name, "key/factor")) return m->key_factor ? NULL : "no load changes in time";
    if (!strncmp(name, "key/", 4) && !m->key_shift) return "no motion has poses";
    if (!strcmp(name, "damping/stiffness") && !(m->damp_stiffness && m->damp_stiffness[0] > 0))
        return "nothing is damped by stiffness: it has one side there";
    return NULL;
}

abut_status abut_parameter_bar_init(abut_parameter_bar *p, const abut_model *m, abut_err *err)
{
    abut_bar_row row[ABUT_BARS];
    *p = (abut_parameter_bar){ 0 };
    abut_parameter_bar_rows(p, m, row);
    for (int i = 0; i < ABUT_BARS; i++) {
        if (!row[i].rows) continue;
        *row[i].data = calloc((size_t)row[i].rows * (size_t)row[i].width, sizeof(double));
        if (*row[i].data) continue;
        abut_parameter_bar_clear(p);
        return abut_fail(err, ABUT_E_NOMEM, "derivatives by %s: %lld rows", row[i].name, (long long)row[i].rows);
    }
    return ABUT_OK;
}

void abut_parameter_bar_clear(abut_parameter_bar *p)
{
#define FREE(member, name, rows, width, unit) free(p->member);
    ABUT_PARAMETER_BARS(FREE)
#undef FREE
    *p = (abut_parameter_bar){ 0 };
}
