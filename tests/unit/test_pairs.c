#include "base/par.h"
#include "check.h"
#include "contact_twin.h"
#include "sheets.h"

/* All primitive pairs closer than dhat, reduced and merged: n contacts; *single counts them before merging. */
static contact_twin *brute_force(const sheets *s, const double *y, const uint8_t *fixed, size_t *n, size_t *single)
{
    size_t cap = 1000, m = 0;
    contact_twin *list = malloc(cap * sizeof *list);
    for (int ee = 0; ee < 2; ee++)
        for (int32_t i = 0; i < (ee ? s->cm.ne : s->cm.nc); i++)
            for (int32_t j = ee ? i + 1 : 0; j < (ee ? s->cm.ne : s->cm.nt); j++) {
                double x[12];
                int32_t v[4];
                const int k = sheets_pair(s, ee, i, j, y, x, v);
                if (k < 0 || (fixed && k == 4)) continue;
                const double eps = ee && !s->model.mollifier ? abut_mollify_eps(s->cm.rest2[i], s->cm.rest2[j]) : 0;
                contact_twin t;
                if (!contact_twin_of(ee ? ABUT_EE : ABUT_PT, x, v, eps, s->dhat, &t)) continue;
                if (m == cap) list = realloc(list, (cap *= 2) * sizeof *list);
                list[m++] = t;
            }
    *single = m;
    *n = contact_twin_merge(list, m);
    return list;
}

/* Contacts that differ from the brute-force ones; adds the numbers of each sort to seen[5]. */
static size_t differences(const abut_pairs *p, const contact_twin *t, size_t n, size_t seen[5])
{
    size_t bad = p->n != n;
    for (size_t i = 0; i < n && i < p->n; i++) {
        const contact_twin got = { i >= p->n_plain, p->kind[i], { p->vert[i][0], p->vert[i][1], p->vert[i][2], p->vert[i][3] },
                                  p->mult[i], p->dist2[i] };
        bad += contact_twin_order(&got, &t[i]) != 0 || fabs(got.mult - t[i].mult) > 0 ||
               fabs(got.dist2 - t[i].dist2) > 1e-14 * got.dist2;
        seen[got.mollified ? 4 : got.kind]++;
    }
    return bad;
}

TEST(contacts_are_those_of_brute_force_with_their_multiplicities)
{
    abut_candidates c = { 0 };
    abut_pairs p = { 0 };
    size_t seen[5] = { 0 };
    int32_t off = 0;
    for (uint64_t seed = 0; seed < 10; seed++) {     /* the last two without the mollifier */
        sheets s = sheets_make(seed, 4, 6, 0.04, seed % 4 * 0.3, 0.01);
        s.dhat = 0.06;
        CHECK(sheets_init(&s));
        s.model.mollifier = seed < 8 ? NULL : &off;
        const uint8_t *fixed = seed & 1 ? s.fixed : NULL;
        const size_t mollified = seen[4];
        CHECK(!abut_candidates_find(&s.cm, s.X, s.y1, s.dhat, fixed, &c, NULL));
        for (int end = 0; end < 2; end++) {
            size_t n, single;
            const double *y = end ? s.y1 : s.X;
            contact_twin *want = brute_force(&s, y, fixed, &n, &single);
            double mult = 0;
            CHECK(!abut_pairs_find(&s.cm, &c, y, fixed, &p, NULL));
            CHECK(differences(&p, want, n, seen) == 0);
            for (size_t i = 0; i < p.n; i++) mult += p.mult[i];
            CHECK_NEAR(mult, (double)single, 0);
            CHECK(n < single);
            free(want);
        }
        CHECK(seed < 8 || seen[4] == mollified);
        sheets_free(&s);
    }
    for (int k = 0; k < 5; k++) CHECK(seen[k] > 100);
    abut_pairs_clear(&p);
    abut_candidates_clear(&c);
}

TEST(stored_distances_are_those_of_the_stored_stencils)
{
    sheets s = sheets_make(3, 4, 8, 0.04, 0.3, 0);
    s.dhat = 0.05;
    CHECK(sheets_init(&s));
    abut_candidates c = { 0 };
    abut_pairs p = { 0 };
    CHECK(!abut_candidates_find(&s.cm, s.X, NULL, s.dhat, NULL, &c, NULL));
    CHECK(!abut_pairs_find(&s.cm, &c, s.X, NULL, &p, NULL));
    for (size_t i = 0; i < p.n; i++) {
        double x[12], d2;
        const abut_stencil kind = abut_pairs_get(&p, i, s.X, x);
        if (i < p.n_plain) d2 = abut_dist2(kind, x, NULL);
        else abut_nearest(kind, x, &d2);
        CHECK(!memcmp(&d2, &p.dist2[i], sizeof d2));
        CHECK((p.eps_x[i] > 0) == (i >= p.n_plain));
    }
    CHECK(p.n_plain > 0 && p.n_plain < p.n);
    abut_pairs_clear(&p);
    abut_candidates_clear(&c);
    sheets_free(&s);
}

TEST(bytes_do_not_depend_on_the_thread_count)
{
    sheets s = sheets_make(7, 6, 20, 0.03, 0.5, 0.01);
    CHECK(sheets_init(&s));
    abut_candidates c = { 0 };
    abut_pairs p[3] = { 0 };
    CHECK(!abut_candidates_find(&s.cm, s.X, s.y1, s.dhat, s.fixed, &c, NULL));
    for (int k = 0; k < 3; k++) {
        abut_threads_set((int[]){ 1, 2, 7 }[k]);
        CHECK(!abut_pairs_find(&s.cm, &c, s.y1, s.fixed, &p[k], NULL));
        CHECK(p[k].n == p[0].n && p[k].n_plain == p[0].n_plain && p[k].n > 1000);
        CHECK(!memcmp(p[k].kind, p[0].kind, p[0].n) && !memcmp(p[k].vert, p[0].vert, p[0].n * sizeof *p[0].vert));
        CHECK(!memcmp(p[k].mult, p[0].mult, p[0].n * sizeof *p[0].mult));
        CHECK(!memcmp(p[k].dist2, p[0].dist2, p[0].n * sizeof *p[0].dist2));
    }
    abut_threads_set(2);
    for (int k = 0; k < 3; k++) abut_pairs_clear(&p[k]);
    abut_candidates_clear(&c);
    sheets_free(&s);
}

TEST(touching_primitives_are_an_error_that_names_them)
{
    sheets s = sheets_make(9, 2, 4, 0.1, 0.1, 0);
    CHECK(sheets_init(&s));
    abut_candidates c = { 0 };
    abut_pairs p = { 0 };
    abut_err err = { 0 };
    memcpy(s.X + 3 * 30, s.X + 3 * 5, 3 * sizeof *s.X);    /* a vertex of one sheet onto one of the other */
    CHECK(!abut_candidates_find(&s.cm, s.X, NULL, s.dhat, NULL, &c, NULL));
    CHECK(abut_pairs_find(&s.cm, &c, s.X, NULL, &p, &err) == ABUT_E_GEOM);
    CHECK(strstr(err.msg, "node 5 of object 0 touches") && strstr(err.msg, "30") && p.n == 0);
    c.vt.n = 0;
    CHECK(abut_pairs_find(&s.cm, &c, s.X, NULL, &p, &err) == ABUT_E_GEOM && strstr(err.msg, "edge"));
    s.X[3 * 30 + 1] = NAN;
    CHECK(abut_pairs_find(&s.cm, &c, s.X, NULL, &p, &err) == ABUT_E_GEOM && strstr(err.msg, "node 30"));
    abut_pairs_clear(&p);
    abut_candidates_clear(&c);
    sheets_free(&s);
}

TEST(half_space_contacts_are_free_vertices_below_dhat)
{
    sheets s = sheets_make(10, 3, 3, 0.1, 0, 0);
    const double point[6] = { 0, -0.04, 0, 0, 0.35, 0 }, normal[6] = { 0, 1, 0, 0, -1, 0 };
    s.model.nh = 2, s.model.hs_point = point, s.model.hs_normal = normal;
    s.dhat = 0.05;
    CHECK(sheets_init(&s));
    abut_candidates c = { 0 };
    abut_pairs p = { 0 };
    abut_err err = { 0 };
    CHECK(!abut_pairs_find(&s.cm, &c, s.X, s.fixed, &p, NULL));
    CHECK(p.n_plane == 16);
    for (size_t i = 0; i < p.n_plane; i++) {
        CHECK(p.plane_vert[i] == (int32_t)i && p.plane[i] == 0);
        CHECK_NEAR(p.plane_dist[i], 0.04, 1e-15);
    }
    s.X[3 * 14 + 1] = 0.36;
    CHECK(abut_pairs_find(&s.cm, &c, s.X, s.fixed, &p, &err) == ABUT_E_GEOM);
    CHECK(strstr(err.msg, "node 14") && strstr(err.msg, "half-space 1"));
    s.X[3 * 14 + 1] = -0.04;
    CHECK(abut_pairs_find(&s.cm, &c, s.X, s.fixed, &p, &err) == ABUT_E_GEOM && strstr(err.msg, "half-space 0"));
    s.fixed[14] = 1;
    CHECK(!abut_pairs_find(&s.cm, &c, s.X, s.fixed, &p, &err) && p.n_plane == 15);
    abut_pairs_clear(&p);
    abut_candidates_clear(&c);
    sheets_free(&s);
}

SETUP
{
    abut_threads_set(2);
}
