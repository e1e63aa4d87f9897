/* The report of a time step as one line of JSON. */
#include "formats/result/results.h"

#include "formats/result/out_file.h"
#include "model/naming.h"
#include "solve/solvers.h"

#include <errno.h>
#include <math.h>
#include <string.h>

static void number(FILE *f, const char *key, double v)
{
    if (isfinite(v)) fprintf(f, "\"%s\":%.17g,", key, v);
    else fprintf(f, "\"%s\":null,", key);
}

typedef struct cell {
    const char *key;
    double v;
} cell;
/* Numbers, each a cell: { "key", value }. */
#define NUMBERS(f, ...) numbers(f, (const cell[]){ __VA_ARGS__, { NULL, 0 } })
static void numbers(FILE *f, const cell *c)
{
    for (; c->key; c++) number(f, c->key, c->v);
}

/* Numbers of nodes within their objects under a key, and under the other the name of the object of each; the last place may be a
 * half-space. */
static void nodes(FILE *f, const abut_model *m, const char *key, const char *objects, const int32_t n[4], int plane)
{
    char name[ABUT_OBJECT_WORDS];
    fprintf(f, "\"%s\":[", key);
    for (int k = 0; k < 4; k++) fprintf(f, "%s%d", k ? "," : "", plane && k == 3 ? n[k] : abut_node_number(m, n[k]));
    fprintf(f, "],\"%s\":[", objects);
    for (int k = 0; k < 4; k++) {
        const int is_plane = plane && k == 3;
        abut_text_line(is_plane ? &m->half_space_name : &m->object_name, is_plane ? n[k] : n[k] < 0 ? -1 : m->body[n[k]], name,
                       sizeof name);
        if (k) putc(',', f);
        if (strcmp(name, "?")) abut_json_string(f, name);
        else fputs("null", f);
    }
    fputs("],", f);
}

/* The number of an element within its object, -1 without one, and the name of that object. */
static void element(FILE *f, const abut_model *m, const char *key, const char *object, const int32_t *list, int width,
                    int32_t row)
{
    char name[ABUT_OBJECT_WORDS];
    abut_text_line(&m->object_name, row < 0 ? -1 : m->body[list[(size_t)width * (size_t)row]], name, sizeof name);
    fprintf(f, "\"%s\":%d,\"%s\":", key, abut_element_number(m, list, width, row), object);
    if (strcmp(name, "?")) abut_json_string(f, name);
    else fputs("null", f);
    putc(',', f);
}

static void limit(FILE *f, const abut_report *r, const abut_model *m)
{
    const abut_limit *l = &r->limit;
    if (!r->limit_iteration) {
        fputs("\"limit\":null,", f);
        return;
    }
    /* a half-space is behind its node there, and comes last here, as in min_gap_nodes */
    const int plane = l->kind == ABUT_LIMIT_PLANE;
    const int32_t against_plane[4] = { l->node[0], -1, -1, l->node[1] };
    fprintf(f, "\"limit\":{\"kind\":\"%s\",\"alpha\":%.17g,\"iteration\":%d,", abut_limit_name(l->kind, l->term), l->alpha,
            r->limit_iteration);
    nodes(f, m, "nodes", "objects", plane ? against_plane : l->node, plane);
    const int shell = l->kind == ABUT_LIMIT_STRETCH, other = l->kind == ABUT_LIMIT_TERM;
    const int32_t number = other ? l->tet : abut_element_number(m, shell ? m->shell : m->tet, shell ? 3 : 4, l->tet);
    fprintf(f, "\"tet\":%d},", number);
}

/* Writes an entry of a row. */
static void entry(FILE *f, double v)
{
    if (isfinite(v)) fprintf(f, "%.6g,", v);
    else fputs("null,", f);
}

static void iterations(FILE *f, const abut_report *r)
{
    const int n = abut_report_rows(r);
    fputs("\"iterations\":[", f);
    for (int i = 0; i < n; i++) {
        const abut_iteration *it = abut_report_row(r, i);
        fputs(i ? ",[" : "[", f);
        entry(f, it->residual);
        entry(f, it->bound);
        entry(f, it->alpha);
        fprintf(f, "%d,%d,", it->contacts, it->trials);
        entry(f, it->decrease);
        fprintf(f, "\"%s\"]", abut_iteration_bounded_by(it));
    }
    fprintf(f, "],\"iterations_left_out\":%d,\"held_up\":{", r->newton - n);
    for (int k = 0; k < ABUT_HOLDS; k++) fprintf(f, "%s\"%s\":%d", k ? "," : "", abut_hold_names[k], r->held[k]);
    fputs("},", f);
}

static void seconds(FILE *f, const abut_phase_seconds *s)
{
    double named = -s->total;
    fputs("\"seconds\":{", f);
#define PUT(name) fprintf(f, "\"" #name "\":%.6f,", s->name), named += s->name;
    ABUT_PHASES(PUT)
#undef PUT
    fprintf(f, "\"other\":%.6f}", fmax(0, s->total - named));
}

/* Writes the names of the promises that the solver does not make. */
static void not_guaranteed(FILE *f, unsigned promises)
{
    int n = 0;
    fputs("\"not_guaranteed\":[", f);
    for (int k = 0; k < ABUT_PROMISES; k++)
        if (!(promises & 1u << k)) fprintf(f, "%s\"%s\"", n++ ? "," : "", abut_promise_names[k]);
    fputs("],", f);
}

/* Keys that have other names since version 1.1 of the streams, once more. */
static void former_names(FILE *f, const abut_report *r, int shells)
{
    fprintf(f, "\"shifts\":%d,", r->shifts);
    number(f, "eta", r->eta);
    number(f, "stretch_room", shells ? r->stretch_room : NAN);
}

static void device(FILE *f, const abut_device_report *d)
{
    if (!d->name) {
        fputs("\"device\":\"cpu\",", f);
        return;
    }
    fprintf(f, "\"device\":\"%s\",\"waits\":%zu,\"launches\":%zu,\"device_bytes\":%zu,\"device_bytes_peak\":%zu,", d->name,
            d->waits, d->launches, d->bytes, d->bytes_peak);
    fprintf(f, "\"corrections\":%d,\"cg_double\":%d,\"transfer_seconds\":%.6f,", d->corrections, d->cg_double, d->transfer);
}

/* Only steps of hard contact have them. */
static void nodal(FILE *f, const abut_nodal_report *n)
{
    const double all = (double)(n->visits + n->asleep);
    if (!n->solved) return;
    fprintf(f, "\"nodal\":{\"linearisations\":%d,\"admm_iterations\":%d,\"rounds\":%d,\"contact_visits\":%zu,",
            n->linearisations, n->iterations, n->rounds, n->visits);
    number(f, "asleep_fraction", all > 0 ? (double)n->asleep / all : 0);
    fprintf(f, "\"contacts\":%zu,\"contacts_appended\":%zu,\"colours\":%d,", n->contacts, n->appended, n->colours);
    NUMBERS(f, { "delta_inf", n->delta_inf }, { "delta_2", n->delta_2 }, { "delta_elastic", n->delta_elastic },
            { "unbalanced", n->unbalanced }, { "penetration", n->penetration }, { "coulomb_residual", n->coulomb_residual },
            { "balance_residual", n->balance_residual });
    fprintf(f, "\"rising\":%d,", n->rising);
    fprintf(f, "\"sticking\":%zu,\"sliding\":%zu,\"yielding\":%zu,\"opening\":%zu,\"repaired\":%d,\"twist_iterations\":%d,",
            n->sticking, n->sliding, n->yielding, n->opening, n->repaired, n->twist_iterations);
    fprintf(f, "\"seconds\":{\"detect\":%.6f,\"project\":%.6f,\"judge\":%.6f}},", n->detect, n->project, n->judge);
}

/* Only steps by linearised inequalities have them. */
static void sqp(FILE *f, const abut_sqp_report *s)
{
    static const char *const answer[] = { "solved", "infeasible", "limit" };
    if (!s->solved) return;
    fprintf(f, "\"sqp\":{\"programs\":%d,\"qp_iterations\":%d,\"pairs\":%zu,\"hits\":%zu,\"answer\":\"%s\",", s->programs,
            s->qp_iterations, s->pairs, s->hits, answer[s->last.answer]);
    number(f, "violation", s->violation);
    fprintf(f, "\"stationary\":%.6g,\"feasible\":%.6g,\"complementary\":%.6g},", s->last.stationary, s->last.feasible,
            s->last.complementary);
}

abut_status abut_report_write(const abut_report *r, const abut_model *m, FILE *f, abut_err *err)
{
    const double none = NAN;
    fprintf(f, "{\"step\":%lld,", (long long)r->step);
    number(f, "time", r->time);
    fprintf(f, "\"newton_iterations\":%d,\"line_search_trials\":%d,\"passes\":%d,\"diagonal_shifts\":%d,", r->newton, r->trials,
            r->passes, r->shifts);
    fprintf(f, "\"cg_iterations\":%d,\"iterations_given_up\":%d,\"factorisations\":%d,\"factorisations_double\":%d,",
            r->cg_iterations, r->iterations_given_up, r->factorisations, r->factorisations_double);
    fprintf(f, "\"waypoints\":%d,\"damped\":%d,", r->waypoints, r->damped);
    fprintf(f, "\"newton_solves\":%d,\"initial_matrices\":%d,\"not_descending\":%d,\"pairs_skipped\":%d,", r->newton_solves,
            r->initial_matrices, r->not_descending, r->pairs_skipped);
    const double error = abut_error_sum(r->contact_error);
    NUMBERS(f, { "characteristic_norm", r->norm > 0 ? r->norm : none }, { "gradient_norm", r->gradient > 0 ? r->gradient : none },
            { "residual", r->residual }, { "force_residual", r->force_largest > 0 ? r->force_residual : none },
            { "force_largest", r->force_largest > 0 ? r->force_largest : none }, { "contact_error", error > 0 ? error : none });
    for (int k = 0; k < ABUT_ERRORS; k++) {
        char name[32];
        snprintf(name, sizeof name, "contact_error_%s", abut_error_names[k]);
        number(f, name, error > 0 ? r->contact_error[k] : none);
    }
    const struct abut_lag_report *l = &r->lags;
    NUMBERS(f, { "lag_residual", r->lag_residual < 0 ? none : r->lag_residual },
            { "lag_force", l->largest > 0 ? l->change : none }, { "lag_force_largest", l->largest > 0 ? l->largest : none },
            { "lag_friction", l->largest > 0 ? l->friction : none }, { "lag_speed", l->largest > 0 ? l->speed : none });
    fprintf(f, "\"parts\":%d,", l->parts ? l->parts : 1);
    NUMBERS(f, { "scripted_fraction", r->eta }, { "kappa", r->kappa });
    fprintf(f, "\"fixed_iterations\":%d,", r->fixed_iterations);
    not_guaranteed(f, r->promises);
    fprintf(f, "\"contact\":\"%s\",", abut_contact_names[r->contact]);
    fprintf(f, "\"contacts\":%d,\"mollified\":%d,\"half_space_contacts\":%d,\"candidates\":%zu,", r->contacts, r->mollified,
            r->planes, r->candidates);
    fprintf(f, "\"sticking_contacts\":%d,\"sliding_contacts\":%d,", r->sticking, r->sliding);
    NUMBERS(f, { "creep_max", r->sticking ? r->creep_max : none }, { "creep_mean", r->sticking ? r->creep_mean : none },
            { "min_gap", r->min_gap < 0 ? none : r->min_gap });
    if (r->min_gap >= 0) nodes(f, m, "min_gap_nodes", "min_gap_objects", r->gap_node, r->gap_node[1] < 0);
    else fputs("\"min_gap_nodes\":null,\"min_gap_objects\":null,", f);
    number(f, "min_jacobian", r->min_jacobian_tet < 0 ? none : r->min_jacobian);
    element(f, m, "min_jacobian_tet", "min_jacobian_object", m->tet, 4, r->min_jacobian_tet);
    const int shells = r->max_stretch_shell >= 0;
    NUMBERS(f, { "max_stretch", shells ? r->max_stretch : none }, { "min_stretch", shells ? r->min_stretch : none },
            { "stretch_margin", shells ? r->stretch_room : none }, { "strain_kappa", shells ? r->strain_kappa : none });
    element(f, m, "max_stretch_shell", "max_stretch_object", m->shell, 3, r->max_stretch_shell);
    number(f, "rigid_strain", m->rigid_range ? r->rigid_strain : none);
    fprintf(f, "\"stiffened\":%d,", r->stiffened);
    limit(f, r, m);
    NUMBERS(f, { "kinetic_energy", r->kinetic }, { "elastic_energy", r->elastic }, { "gravity_energy", r->gravity },
            { "barrier_energy", r->barrier }, { "energy_growth", r->energy_growth > 0 ? r->energy_growth : none });
    fprintf(f, "\"energy_grows\":%d,", r->energy_grows);
    number(f, "spin_taken", r->spin_taken);
    fprintf(f, "\"momentum\":[%.17g,%.17g,%.17g],\"angular_momentum\":[%.17g,%.17g,%.17g],", r->momentum[0], r->momentum[1],
            r->momentum[2], r->angular[0], r->angular[1], r->angular[2]);
    iterations(f, r);
    NUMBERS(f, { "factor_nnz", r->factor_nnz }, { "factor_flops", r->factor_flops }, { "factor_bytes", r->factor_bytes });
    fprintf(f, "\"memory_peak\":%zu,\"cpu_seconds\":%.6f,", r->memory_peak, r->cpu);
    former_names(f, r, shells);
    device(f, &r->device);
    nodal(f, &r->nodal);
    sqp(f, &r->sqp);
    seconds(f, &r->seconds);
    fputs("}\n", f);
    if (fflush(f) || ferror(f)) return abut_fail(err, ABUT_E_IO, "step report: %s", strerror(errno));
    return ABUT_OK;
}
