/* pull STIFFNESS X Y Z NODE...: ten steps in which springs pull these nodes to a point: E = sum_i k/2 |x_i - to|^2. */
#include <abut/abut.h>
#include <stdlib.h>

typedef struct pull { double k, to[3]; } pull;

static double spring(const void *own, int32_t element, const double *x, double *g, double *H)
{
    const pull *p = own;
    double e = 0;
    (void)element;
    for (int d = 0; d < 3; d++) {
        e += p->k / 2 * (x[d] - p->to[d]) * (x[d] - p->to[d]);
        if (g) g[d] = p->k * (x[d] - p->to[d]);
        if (H) H[4 * d] = p->k;
    }
    return e;
}

int main(int argc, char **argv)
{
    if (argc < 6) return fprintf(stderr, "pull STIFFNESS X Y Z NODE... < stream > stream\n"), 2;
    const pull p = { atof(argv[1]), { atof(argv[2]), atof(argv[3]), atof(argv[4]) } };
    int32_t *node = malloc(sizeof *node * (size_t)argc), n = 0;
    for (int i = 5; i < argc; i++) node[n++] = atoi(argv[i]);
    const abut_element_energy springs = { "pull", 1, n, node, spring, &p };
    const abut_run_options o = { .program = "pull", .energy = &springs, .energies = 1 };
    abut_run *run = NULL;
    abut_err err = { 0 };
    abut_status rc = abut_run_open(&run, stdin, stdout, &o, &err);
    if (!rc) rc = abut_run_check(run, &err);
    for (int i = 0; i < 10 && !rc; i++) rc = abut_run_step(run, &err);
    if (!rc) rc = abut_run_close(run, &err);
    if (rc) fprintf(stderr, "pull: %s\n", err.msg);
    abut_run_free(&run);
    free(node);
    return rc ? 3 : 0;
}
