/* step-mpi: what step does, by processes that divide the work; built by `make MPI=1`. */
#define _DEFAULT_SOURCE     /* on_exit */

#include "base/par.h"
#include "sparse/petsc/petsc.h"
#include "tools/step/run.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#define SUMMARY \
    "Advances the state as step does, by processes that MPI starts and that divide the work.\n\n" \
    "    mpirun -n 4 step-mpi -n 100 start.abut -o run.abut       100 steps by 4 processes\n" \
    "    mesh-prep scene.yaml | mpirun -n 4 step-mpi -n 100 | ccd-check      as a stage\n\n" \
    "Options are those of step (--help all), with --solver newton and --linear-solver petsc-schwarz (the default) or\n" \
    "petsc-gamg, and one thread a process (-j).  Scenes of tetrahedra of order 1, half-spaces, obstacles, motions, contact\n" \
    "and friction; what else a scene has is refused.  Process 0 alone reads standard input, writes and speaks.  What is\n" \
    "divided, and what each process holds whole: docs/CLUSTER.md."

#define PATIENCE 3          /* s that process 0, when it has failed, waits for the others to have failed, too; */
#define PATIENCE_OTHERS 30  /* and they for it, which may have much to write */

/* ---- the process ---- */

static int words_of_others = -1;    /* a file without a name for messages of a process other than 0; and standard error */
static int terminal = -1, rank_number;

/* A rank that failed alone says so. */
static void last_words(void)
{
    char text[4096];
    ssize_t n = words_of_others < 0 ? 0 : pread(words_of_others, text, sizeof text, 0);
    if (n > 0) dprintf(terminal, "process %d: %.*s", rank_number, (int)n, text);
}

static void at_end(int code, void *ranks)
{
    abut_mpi_part(ranks, code, rank_number ? PATIENCE_OTHERS : PATIENCE, last_words);
    abut_mpi_end(ranks);
}

/* Threads of libraries, and how they wait, are read from the environment before main. */
static void use_one_thread(char **argv)
{
    if (getenv("OMP_NUM_THREADS") || setenv("OMP_NUM_THREADS", "1", 1) || setenv("OMP_WAIT_POLICY", "passive", 0)) return;
    execv("/proc/self/exe", argv);
}

static pid_t carrier;       /* a process that carries the output of process 0 to mpirun; 0: none */

static void carry(int from)
{
    static char bytes[1 << 16];
    struct termios raw;
    ssize_t n;
    if (!tcgetattr(1, &raw)) {
        cfmakeraw(&raw);
        tcsetattr(1, TCSANOW, &raw);
    }
    while ((n = read(from, bytes, sizeof bytes)) > 0)
        for (ssize_t done = 0, k; done < n; done += k)
            if ((k = write(1, bytes + done, (size_t)(n - done))) < 0) _exit(1);
    _exit(n != 0);
}

/* Open MPI gives its processes a terminal as standard output, even where mpirun writes into a pipe or a file: there the stream
 * may go, and a process of its own carries it, bytes as they are. */
static void reach_mpirun(void)
{
    const char *rank = getenv("OMPI_COMM_WORLD_RANK");
    char name[64], leads[256];
    int ends[2];
    snprintf(name, sizeof name, "/proc/%ld/fd/1", (long)getppid());
    const ssize_t n = readlink(name, leads, sizeof leads - 1);
    if (!rank || strcmp(rank, "0") || !isatty(1) || n < 0) return;
    leads[n] = 0;
    if ((!strncmp(leads, "/dev/", 5) && strcmp(leads, "/dev/null")) || pipe(ends)) return;
    carrier = fork();
    if (carrier < 0) return;
    close(ends[carrier ? 0 : 1]);
    if (!carrier) carry(ends[0]);
    if (dup2(ends[1], 1) < 0) exit(5);
    close(ends[1]);
}

/* Waits until the output has arrived; returns the code, or 5 if it has not. */
static int output_arrives(int code)
{
    int how = 0;
    if (carrier > 0 && (waitpid(carrier, &how, 0) < 0 || how) && !code) return 5;
    return code;
}

/* Silences a process other than 0: process 0 writes the messages, and all fail together. */
static void be_silent(void)
{
    char name[] = "/tmp/step-mpi-XXXXXX";
    const int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC), words = mkstemp(name);
    if (words >= 0) unlink(name);
    terminal = dup(2);
    words_of_others = words;
    if (dup2(nowhere, 1) < 0 || dup2(words >= 0 ? words : nowhere, 2) < 0) exit(5);
}

static int says_solver(int argc, char **argv)
{
    for (int i = 1; i < argc && strcmp(argv[i], "--"); i++)
        if (!strncmp(argv[i], "--solver", 8)) return 1;
    return 0;
}

/* Words of the command line, after the default ones; a process other than 0 is quiet. */
static char **words(int argc, char **argv, int *n)
{
    static char before[][20] = { "-q", "-j", "1", "--linear-solver", "petsc-schwarz" };
    const int first = rank_number ? 0 : 1, end = says_solver(argc, argv) ? 3 : 5;
    char **all = calloc((size_t)(argc + end) + 1, sizeof *all);
    int k = 0;
    if (!all) return NULL;
    all[k++] = argv[0];
    for (int j = first; j < end; j++) all[k++] = before[j];
    for (int i = 1; i < argc; i++) all[k++] = argv[i];
    *n = k;
    return all;
}

/* ---- the run ---- */

static abut_status refuse(const abut_step_command *c, abut_err *err)
{
    const char *what = c->o.device.place.kind ? "--device" : c->one_pass ? "--one-pass" : c->dump_stuck ? "--dump-stuck"
                       : c->dry ? "--dry-run" : c->o.search.ccd != ABUT_CCD_FULL ? "--ccd cfl"
                       : c->o.search.guess != ABUT_GUESS_COAST ? "--guess" : NULL;
    if (what) return abut_fail(err, ABUT_E_ARG, "%s: not for step-mpi; step has it", what);
    if (strcmp(c->solver_name, "newton"))
        return abut_fail(err, ABUT_E_ARG, "--solver %s: step-mpi has newton; step has the others", c->solver_name);
    if (c->o.linear.solver && c->o.linear.solver != &abut_linear_petsc_gamg && c->o.linear.solver != &abut_linear_petsc_schwarz)
        return abut_fail(err, ABUT_E_ARG, "--linear-solver %s: step-mpi has petsc-schwarz and petsc-gamg; step has the others",
                         c->o.linear.solver->name);
    return ABUT_OK;
}

/* The history of the stream has the number of processes, on which bits depend. */
static void note_ranks(abut_step_command *c, const abut_ranks *r)
{
    size_t used = strlen(c->notes);
    if (!c->o.linear.solver) {
        snprintf(c->notes + used, sizeof c->notes - used, ",\"linear_solver\":\"%s\"", abut_linear_petsc_schwarz.history);
        used = strlen(c->notes);
        c->o.linear.solver = &abut_linear_petsc_schwarz;
    }
    snprintf(c->notes + used, sizeof c->notes - used, ",\"ranks\":%d", r->size);
    snprintf(c->history, sizeof c->history, "{\"solver\":\"%s\"%s}", c->solver_name, c->notes);
}

/* The input, which process 0 reads. */
static abut_status share_input(const abut_ranks *r, abut_cli *cli, abut_err *err)
{
    FILE *copy = NULL;
    const abut_status rc = abut_mpi_spread(r, cli->in, &copy, err);
    if (cli->in != stdin) fclose(cli->in);
    cli->in = copy;
    return rc;
}

static abut_status run(abut_step_run *r, abut_step_command *c, abut_cli *cli, const abut_ranks *ranks, abut_err *err)
{
    abut_status rc = refuse(c, err);
    if (rc) return rc;
    note_ranks(c, ranks);
    c->o.device.ranks = ranks;
    if (c->report && !rank_number && !(r->report = abut_cli_create(cli, c->report, err))) return err->code;
    rc = share_input(ranks, cli, err);
    return rc ? rc : abut_step_run_all(r, c, cli, err);
}

int main(int argc, char **argv)
{
    abut_step_line line;
    abut_step_command c;
    abut_cli cli;
    abut_step_run r = { 0 };
    abut_ranks *ranks = NULL;
    abut_err err = { 0 };
    use_one_thread(argv);
    reach_mpirun();
    abut_step_keep_memory();
    if (abut_mpi_begin(&ranks, &err) || on_exit(at_end, ranks)) {
        fprintf(stderr, "step-mpi: %s\n", err.msg);
        return 5;
    }
    rank_number = ranks->rank;
    if (rank_number) be_silent();
    argv = words(argc, argv, &argc);
    if (!argv) return 5;
    abut_step_line_init(&line);
    abut_cli_begin(&cli, argc, argv, SUMMARY, "[FILE]", line.opts,
                   ABUT_CLI_IN | ABUT_CLI_OUT_MAY | (rank_number ? ABUT_CLI_OUT_NOWHERE : 0));
    abut_status rc = abut_step_line_read(&line, &cli, &c, &err);
    if (!rc && !cli.out) rc = abut_cli_refuse_terminal(&err);
    if (!rc && !run(&r, &c, &cli, ranks, &err)) err = (abut_err){ 0 };
    if (r.report && fclose(r.report) && !err.code) abut_fail(&err, ABUT_E_IO, "%s: %s", c.report, strerror(errno));
    const int moves = c.rest > 0 && !r.rests;
    abut_step_run_clear(&r);
    const int code = output_arrives(abut_cli_end(&cli, moves, &err));
    free(argv);
    abut_mpi_part(ranks, code, rank_number ? PATIENCE_OTHERS : PATIENCE, last_words);
    return code;
}
