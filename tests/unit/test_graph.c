#include "base/par.h"
#include "base/rng.h"
#include "box_tets.h"
#include "sparse/own/cholesky.h"
#include "graph/graph.h"
#include "model/tets.h"

#include "check.h"

static int is_permutation(int32_t n, const int32_t *perm)
{
    char *seen = calloc((size_t)n + 1, 1);
    int ok = 1;
    for (int32_t k = 0; k < n; k++) {
        if (perm[k] < 0 || perm[k] >= n || seen[perm[k]]) ok = 0;
        else seen[perm[k]] = 1;
    }
    free(seen);
    return ok;
}

static double fill_of(const abut_bsr *A, const int32_t *perm)
{
    abut_chol *c = NULL;
    if (abut_chol_new(&c, A, perm, 1, NULL)) abort();
    const double nnz = abut_chol_get_stats(c).factor_nnz;
    abut_chol_free(&c);
    return nnz;
}

TEST(the_ordering_is_a_permutation_with_far_less_fill_than_the_natural_order_and_repeats)
{
    box_tets box = box_tets_make(14, 14, 14, 1);
    const abut_elements set = { .corners = 4, .n = (size_t)box.nt, .row = box.tet };
    abut_bsr A = { 0 };
    CHECK(abut_bsr_pattern(&A, box.nv, &set, 1, NULL) == ABUT_OK);
    int32_t *perm = malloc((size_t)box.nv * sizeof *perm), *again = malloc((size_t)box.nv * sizeof *again);
    int32_t *other = malloc((size_t)box.nv * sizeof *other);
    CHECK(abut_graph_order_nested_dissection(abut_bsr_graph(&A), perm, NULL) == ABUT_OK);
    CHECK(is_permutation(box.nv, perm));
    rand();     /* METIS draws from the C library: its state must not matter */
    const int before = abut_threads();
    abut_threads_set(7);
    CHECK(abut_graph_order_nested_dissection(abut_bsr_graph(&A), again, NULL) == ABUT_OK);
    abut_threads_set(before);
    CHECK(memcmp(perm, again, (size_t)box.nv * sizeof *perm) == 0);
    for (int32_t k = 0; k < box.nv; k++) other[k] = k;
    const double nd = fill_of(&A, perm), natural = fill_of(&A, other), amd = fill_of(&A, NULL);
    for (int32_t k = 0; k < box.nv; k++) other[perm[k]] = k;    /* the inverse is another ordering, and a bad one */
    CHECK(nd < 0.5 * natural);
    CHECK(nd < 0.9 * amd);
    CHECK(nd < 0.5 * fill_of(&A, other));
    free(perm), free(again), free(other);
    abut_bsr_clear(&A);
    box_tets_free(&box);
}

/* Pairs of rows, each pair coupled with random others: small things that touch. */
TEST(minimum_degree_orders_small_things_that_touch_as_well_and_knows_what_the_factor_takes)
{
    enum { THINGS = 150, CONTACTS = 450 };
    int32_t row[4 * (THINGS + CONTACTS)], perm[2 * THINGS], nested[2 * THINGS], again[2 * THINGS];
    abut_rng rng = { 5 };
    for (int i = 0; i < THINGS + CONTACTS; i++) {
        const int32_t a = i < THINGS ? i : (int32_t)abut_rng_below(&rng, THINGS - 12);
        const int32_t b = a + 1 + (int32_t)abut_rng_below(&rng, 11);
        const int touch = i >= THINGS;
        memcpy(row + 4 * i, (int32_t[4]){ 2 * a, 2 * a + 1, touch ? 2 * b : -1, touch ? 2 * b + 1 : -1 }, 4 * sizeof *row);
    }
    const abut_elements set = { .corners = 4, .n = THINGS + CONTACTS, .row = row };
    abut_bsr A = { 0 };
    abut_graph_fill fill, same;
    abut_chol *c = NULL;
    CHECK(!abut_bsr_pattern(&A, 2 * THINGS, &set, 1, NULL));
    CHECK(!abut_graph_order_amd(abut_bsr_graph(&A), perm, &fill, NULL));
    CHECK(!abut_graph_order_amd(abut_bsr_graph(&A), again, &same, NULL));
    CHECK(is_permutation(A.n, perm));
    CHECK(!memcmp(perm, again, sizeof perm) && !memcmp(&fill, &same, sizeof fill));
    CHECK(!abut_graph_order_nested_dissection(abut_bsr_graph(&A), nested, NULL) && !abut_chol_new(&c, &A, perm, 1, NULL));
    const abut_chol_stats is = abut_chol_get_stats(c);
    CHECK(is.factor_nnz < 1.3 * fill_of(&A, nested));
    printf("# factor %.3g numbers, %.3g operations, foretold %.3g, %.3g\n", is.factor_nnz, is.factor_flops, fill.nnz, fill.flops);
    CHECK(fill.nnz > 0.8 * is.factor_nnz && fill.nnz < 1.2 * is.factor_nnz);
    CHECK(fill.flops > 0.7 * is.factor_flops && fill.flops < 1.2 * is.factor_flops);
    abut_chol_free(&c);
    abut_bsr_clear(&A);
}

TEST(orderings_of_empty_and_disconnected_graphs_are_permutations)
{
    abut_bsr A = { 0 };
    int32_t perm[40];
    abut_graph_fill fill;
    CHECK(abut_bsr_pattern(&A, 0, NULL, 0, NULL) == ABUT_OK);
    CHECK(abut_graph_order_nested_dissection(abut_bsr_graph(&A), perm, NULL) == ABUT_OK);
    CHECK(!abut_graph_order_amd(abut_bsr_graph(&A), perm, &fill, NULL) && fill.nnz == 0 && fill.flops == 0);
    CHECK(abut_bsr_pattern(&A, 5, NULL, 0, NULL) == ABUT_OK);
    CHECK(abut_graph_order_nested_dissection(abut_bsr_graph(&A), perm, NULL) == ABUT_OK);
    CHECK(is_permutation(5, perm));
    const int32_t row[8] = { 30, 31, 39, 0, 5, 7, -1, -1 };
    const abut_elements set = { .corners = 4, .n = 2, .row = row };
    CHECK(abut_bsr_pattern(&A, 40, &set, 1, NULL) == ABUT_OK);
    CHECK(abut_graph_order_nested_dissection(abut_bsr_graph(&A), perm, NULL) == ABUT_OK);
    CHECK(is_permutation(40, perm));
    CHECK(!abut_graph_order_amd(abut_bsr_graph(&A), perm, &fill, NULL));
    CHECK(is_permutation(40, perm));
    abut_bsr_clear(&A);
}

/* Faces common to two tets, by comparing all pairs. */
static int common_faces(const int32_t *a, const int32_t *b)
{
    int n = 0;
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) n += a[i] == b[j];
    return n == 3;
}

TEST(the_dual_graph_equals_a_comparison_of_all_pairs)
{
    box_tets box = box_tets_make(3, 4, 2, 1);
    abut_dual d = { 0 };
    CHECK(abut_dual_make(&d, box.nv, box.nt, box.tet, NULL) == ABUT_OK);
    for (int32_t a = 0; a < box.nt; a++) {
        int32_t count = 0;
        for (int32_t b = 0; b < box.nt; b++) {
            if (a == b || !common_faces(box.tet + 4 * a, box.tet + 4 * b)) continue;
            int found = 0;
            for (int32_t k = d.ptr[a]; k < d.ptr[a + 1]; k++) found += d.adj[k] == b;
            CHECK(found == 1);
            count++;
        }
        CHECK(count == d.ptr[a + 1] - d.ptr[a]);
    }
    abut_dual_clear(&d);
    box_tets_free(&box);
}

/* The figures of a partition, counted another way: nodes against all tets. */
static void check_stats(const box_tets *b, int32_t k, const int32_t *part, const abut_partition_stats *s)
{
    int64_t cut = 0, faces = 0;
    int32_t interface = 0, *size = calloc((size_t)k, sizeof *size), small = b->nt, large = 0;
    for (int32_t e = 0; e < b->nt; e++) {
        CHECK(part[e] >= 0 && part[e] < k);
        size[part[e]]++;
        for (int32_t o = 0; o < e; o++) {
            const int common = common_faces(b->tet + 4 * e, b->tet + 4 * o);
            faces += common;
            cut += common && part[e] != part[o];
        }
    }
    for (int32_t v = 0; v < b->nv; v++) {
        int32_t one = -1, several = 0;
        for (int32_t i = 0; i < 4 * b->nt; i++)
            if (b->tet[i] == v) several |= one >= 0 && one != part[i / 4], one = part[i / 4];
        interface += several;
    }
    for (int32_t p = 0; p < k; p++) {
        if (size[p] < small) small = size[p];
        if (size[p] > large) large = size[p];
    }
    CHECK(s->faces == faces && s->cut == cut && s->interface_nodes == interface && s->smallest == small && s->largest == large);
    CHECK_NEAR(s->balance, (double)large / ((double)b->nt / k), 1e-12);
    free(size);
}

TEST(parts_are_balanced_connected_and_cut_along_few_faces)
{
    box_tets box = box_tets_make(8, 8, 8, 1);
    int32_t *part = malloc((size_t)box.nt * sizeof *part);
    for (int32_t k = 1; k <= 8; k += k) {
        abut_partition_stats s;
        CHECK(abut_partition_tets(box.nv, box.nt, box.tet, k, part, &s, NULL) == ABUT_OK);
        check_stats(&box, k, part, &s);
        CHECK(s.balance <= 1.1);
        CHECK(s.split == 0);
        CHECK((k == 1) == (s.cut == 0) && (k == 1) == (s.interface_nodes == 0));
        CHECK(s.cut <= 128 * 1.5 * log2(k));    /* a plane between cells cuts 2 * 8 * 8 faces, k parts need log2 k */
    }
    free(part);
    box_tets_free(&box);
}

/* Faces (by_nodes 0) or edges of tets (1) between parts, and the sums of weights, counted over again. */
static void check_cut(const box_tets *b, int32_t k, const abut_cut_opts *how)
{
    int32_t *part = malloc((size_t)b->nt * sizeof *part), *node = malloc((size_t)b->nv * sizeof *node);
    double *sum = calloc((size_t)k, sizeof *sum), all = 0, most = 0;
    abut_partition_stats s;
    CHECK(abut_partition_mesh(b->nv, b->nt, b->tet, k, how, part, node, &s, NULL) == ABUT_OK);
    const int32_t n = how->by_nodes ? b->nv : b->nt, *of = how->by_nodes ? node : part;
    for (int32_t i = 0; i < n; i++) {
        CHECK(of[i] >= 0 && of[i] < k);
        sum[of[i]] += how->weight ? how->weight[i] : 1;
        all += how->weight ? how->weight[i] : 1;
    }
    for (int32_t p = 0; p < k; p++) most = fmax(most, sum[p]);
    CHECK(most * k / all < 1.12);
    if (how->weight) CHECK_NEAR(s.balance, most * k / all, 1e-12);
    CHECK(s.split == 0 && s.cut < 128 * 2.0 * log2(k));
    for (int32_t t = 0; t < b->nt && how->by_nodes; t++) {      /* mending may move islands, and does not on a box */
        int own = 0, best = 0;
        for (int i = 0; i < 4; i++) {
            int same = 0;
            for (int j = 0; j < 4; j++) same += node[b->tet[4 * t + i]] == node[b->tet[4 * t + j]];
            own += node[b->tet[4 * t + i]] == part[t];
            best = same > best ? same : best;
        }
        CHECK(own == best);
    }
    free(part), free(node), free(sum);
}

TEST(meshes_are_cut_by_tets_and_nodes_at_once_and_by_bisection_with_and_without_weights)
{
    box_tets box = box_tets_make(8, 8, 8, 1);
    double *weight = malloc((size_t)box.nt * sizeof *weight);
    for (int32_t i = 0; i < box.nt; i++) weight[i] = i < box.nt / 4 ? 5 : 0.5;
    for (int way = 0; way < 8; way++) check_cut(&box, 4, &(abut_cut_opts){ way & 1, way >> 1 & 1, way & 4 ? weight : NULL });
    int32_t *part = malloc((size_t)box.nt * sizeof *part);
    abut_partition_stats s;
    abut_err err = { 0 };
    weight[3] = -1;
    CHECK(abut_partition_mesh(box.nv, box.nt, box.tet, 4, &(abut_cut_opts){ .weight = weight }, part, NULL, &s,
                              &err) == ABUT_E_ARG);
    CHECK(strstr(err.msg, "weight 3 is -1"));
    weight[3] = NAN;
    CHECK(abut_partition_mesh(box.nv, box.nt, box.tet, 4, &(abut_cut_opts){ .weight = weight }, part, NULL, &s,
                              &err) == ABUT_E_ARG);
    for (int32_t i = 0; i < box.nt; i++) weight[i] = 0;
    CHECK(abut_partition_mesh(box.nv, box.nt, box.tet, 4, &(abut_cut_opts){ .weight = weight }, part, NULL, &s,
                              &err) == ABUT_E_ARG);
    free(weight), free(part);
    box_tets_free(&box);
}

TEST(separate_bodies_are_told_from_split_parts)
{
    const int32_t tet[8] = { 0, 1, 2, 3, 4, 5, 6, 7 };
    int32_t part[2];
    abut_partition_stats s;
    CHECK(abut_partition_tets(8, 2, tet, 1, part, &s, NULL) == ABUT_OK);
    CHECK(s.split == 1 && s.cut == 0);
    CHECK(abut_partition_tets(8, 2, tet, 2, part, &s, NULL) == ABUT_OK);
    CHECK(s.split == 0 && part[0] != part[1]);
}

TEST(mending_moves_an_island_to_its_neighbour)
{
    box_tets box = box_tets_make(10, 1, 1, 1);
    abut_dual d = { 0 };
    CHECK(abut_dual_make(&d, box.nv, box.nt, box.tet, NULL) == ABUT_OK);
    int32_t part[60];
    for (int32_t e = 0; e < 60; e++) part[e] = e / 6 == 8 ? 0 : e / 30;     /* cell 8 belongs to the far part */
    CHECK(abut_dual_mend(&d, 2, part, NULL) == ABUT_OK);
    /* cell 9 was cut off from part 1 by the island: it went to 0 or the island to 1; either way both are whole now */
    int32_t piece[60], stack[60];
    for (int32_t e = 0; e < 48; e++) CHECK(part[e] == e / 30);
    CHECK(abut_dual_pieces(&d, part, piece, stack) == 2);
    abut_dual_clear(&d);
    box_tets_free(&box);
}

/* Graphs by hand: elements 0 and 1 are an island of part 0, whose rest is 9 and 10 with 11; `reach` are their neighbours. */
static int32_t island_goes_to(const int32_t reach[4], const int32_t part_of_others[6])
{
    enum { N = 12, EDGES = 8 };
    const int32_t edge[EDGES][2] = { { 0, 1 }, { 0, reach[0] }, { 0, reach[1] }, { 1, reach[2] }, { 1, reach[3] }, { 8, 9 },
                                     { 9, 10 }, { 10, 11 } };
    int32_t ptr[N + 1] = { 0 }, adj[2 * EDGES], part[N] = { 0 };
    for (int32_t v = 0, n = 0; v < N; v++, ptr[v] = n)
        for (int k = 0; k < EDGES; k++)
            if (edge[k][0] == v || edge[k][1] == v) adj[n++] = edge[k][0] == v ? edge[k][1] : edge[k][0];
    memcpy(part + 2, part_of_others, 6 * sizeof *part);
    part[8] = 1;
    const abut_dual d = { .nt = N, .ptr = ptr, .adj = adj };
    CHECK(!abut_dual_mend(&d, 4, part, NULL) && part[9] == 0 && part[11] == 0);
    return part[0] == part[1] ? part[0] : -1;
}

TEST(an_island_goes_to_the_part_that_it_has_most_faces_in_common_with_and_of_equals_to_the_first)
{
    static const int32_t all[4] = { 2, 3, 4, 5 };
    CHECK(island_goes_to(all, (int32_t[]){ 1, 2, 2, 3, 1, 1 }) == 2);
    CHECK(island_goes_to(all, (int32_t[]){ 3, 1, 3, 1, 1, 1 }) == 1);
    CHECK(island_goes_to(all, (int32_t[]){ 1, 3, 3, 3, 2, 2 }) == 3);
    CHECK(island_goes_to(all, (int32_t[]){ 3, 2, 1, 1, 2, 2 }) == 1);
    CHECK(island_goes_to(all, (int32_t[]){ 3, 1, 2, 3, 2, 2 }) == 3);
}

TEST(too_many_parts_and_nodes_out_of_range_are_refused)
{
    const int32_t tet[4] = { 0, 1, 2, 4 };
    int32_t part[1];
    abut_partition_stats s;
    abut_err err = { 0 };
    CHECK(abut_partition_tets(4, 1, tet, 2, part, &s, &err) == ABUT_E_ARG);
    CHECK(abut_partition_tets(4, 1, tet, 0, part, &s, &err) == ABUT_E_ARG);
    CHECK(abut_partition_tets(4, 1, tet, 1, part, &s, &err) == ABUT_E_ARG);
    CHECK(strstr(err.msg, "tet 0 has node 4, want 0 .. 3"));
    CHECK(abut_partition_tets(5, 1, tet, 1, part, &s, &err) == ABUT_OK);
}

TEST(a_partition_is_taken_whole_and_in_range_or_refused)
{
    static const int32_t part[4] = { 0, 2, 1, 2 };
    for (int wrong = 0; wrong < 6; wrong++) {
        abut_arrays s = { 0 };
        abut_partition p = { 0 };
        abut_err err = { 0 };
        int32_t *to = wrong == 1 ? NULL : abut_arrays_put_rows(&s, "part/element", ABUT_I32, 4 - (wrong == 2), 0, "", &err);
        if (to) memcpy(to, part, (size_t)(4 - (wrong == 2)) * sizeof *to);
        if (wrong == 3) to[1] = -1;
        if (wrong != 4) CHECK(!abut_arrays_put_i32(&s, "part/count", wrong == 5 ? 2 : 3, &err));
        const abut_status rc = abut_partition_view(&s, 4, &p, &err);
        if (!wrong) CHECK(!rc && p.k == 3 && !memcmp(p.part, part, sizeof part));
        else CHECK(rc == ABUT_E_FORMAT && !p.part && strstr(err.msg, wrong == 3 || wrong == 5 ? "tet 1 is in part" : "together"));
        abut_arrays_clear(&s);
        CHECK(!abut_partition_view(&s, 4, &p, &err) && !p.part);    /* none */
    }
}

TEST(the_largest_piece_of_a_part_stays_though_a_smaller_one_has_the_first_and_the_last_element)
{
    /* 0 - 5 and 2 - 3 - 4 are pieces of part 0, 1 - 6 is part 1; 1 touches 0, 6 touches 4 */
    int32_t ptr[] = { 0, 2, 4, 5, 7, 9, 10, 12 }, adj[] = { 5, 1, 0, 6, 3, 2, 4, 3, 6, 0, 1, 4 };
    const abut_dual d = { 7, ptr, adj };
    int32_t part[] = { 0, 1, 0, 0, 0, 0, 1 };
    static const int32_t mended[] = { 1, 1, 0, 0, 0, 1, 1 };
    abut_err err = { 0 };
    CHECK(!abut_dual_mend(&d, 2, part, &err) && !memcmp(part, mended, sizeof mended));
}
