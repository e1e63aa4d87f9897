/* The frame of every program, seen from the shell: this test runs itself as a small program ("probe"). */
#define _XOPEN_SOURCE 700
#define CHECK_OWN_MAIN
#include "check.h"
#include "sample.h"
#include "tools/cli/cli.h"

#include <stdarg.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- the program ---- */

/* Passes a stream on; may fail, say no, print, add an array, or hang after the first item, as its options say. */
static int probe(int argc, char **argv)
{
    int steps = 3, flag = 0, no = 0, print = 0, hang = 0, fail = 0, twice = 0;
    double length = 1.5;
    const char *name = "none";
    abut_opt_list set = { .n = 0 };
    const abut_opt opts[] = {
        { 'n', "steps", ABUT_OPT_INT, &steps, "N", "time steps (default 3)" },
        { 'l', "length", ABUT_OPT_REAL, &length, "m", "a length with a help text that is too long for one line and must be "
          "wrapped somewhere before column 96 (default 1.5)" },
        { 0, "name", ABUT_OPT_TEXT, &name, "TEXT", "a name" },
        { 0, "set", ABUT_OPT_LIST, &set, "KEY=VALUE", "an override; may be given again" },
        { 'f', "flag", ABUT_OPT_FLAG, &flag, NULL, "a flag" },
        { 0, "no", ABUT_OPT_FLAG, &no, NULL, "the answer is no" },
        { 0, "print", ABUT_OPT_FLAG, &print, NULL, "print on standard output, as a library may" },
        { 0, "twice", ABUT_OPT_FLAG, &twice, NULL, "write every frame a second time" },
        { 0, "hang", ABUT_OPT_FLAG, &hang, NULL, "wait after the first item" },
        { 0, "fail", ABUT_OPT_INT, &fail, "STATUS", "fail with this status after the last item" },
        { 0 }
    };
    abut_cli cli;
    abut_err err = { 0 };
    abut_stream s = { 0 };
    abut_cli_begin(&cli, argc, argv, "Pass a stream on.", "[FILE]", opts,
                   ABUT_CLI_IN | ABUT_CLI_OUT | (getenv("NOWHERE") ? ABUT_CLI_OUT_NOWHERE : 0));
    if (print) printf("stray text\n");
    abut_cli_say(&cli, "steps %d length %g name %s sets %d%s flag %d threads %d", steps, length, name, set.n,
                 set.n ? set.item[set.n - 1] : "", flag, cli.threads);
    if (!abut_stream_open(&s, &cli, "{}", &err))
        while (!abut_stream_next(&s, &err) && s.item != ABUT_ITEM_END) {
            if (abut_stream_write(&s, &err)) break;
            if (twice && s.item == ABUT_ITEM_FRAME && abut_stream_write_frame(&s, &s.head, &s.frame_set, &err)) break;
            if (hang) pause();
        }
    if (!err.code && fail) abut_fail(&err, (abut_status)fail, "the probe fails as asked");
    if (!err.code && abut_stream_close(&s, &err)) abut_wrap(&err, "at the end");
    abut_stream_clear(&s);
    return abut_cli_end(&cli, no, &err);
}

/* ---- running it ---- */

static char self[4096], folder[] = "/tmp/abut-cli.XXXXXX";

static char *slurp(const char *name)
{
    char path[4200];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "rb");
    char *p = calloc(1, 1 << 16);
    if (!p) abort();
    if (f && fread(p, 1, (1 << 16) - 1, f) == 0) *p = 0;
    if (f) fclose(f);
    return p;
}

/* Runs a shell command in the folder, $P being the probe; its stderr goes to the file err.  Returns the exit status. */
static int sh(const char *fmt, ...) ABUT_PRINTF(1, 2);
static int sh(const char *fmt, ...)
{
    char command[8192], full[17000];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(command, sizeof command, fmt, ap);
    va_end(ap);
    snprintf(full, sizeof full, "cd %s && P='%s probe' && { %s; } 2>err", folder, self, command);
    const int status = system(full);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static int says(const char *text)
{
    char *err = slurp("err");
    const int found = strstr(err, text) != NULL;
    if (!found) printf("# expected '%s' in: %s", text, err);
    free(err);
    return found;
}

static int says_once(const char *text)
{
    char *err = slurp("err"), *first = strstr(err, text);
    const int once = first && !strstr(first + 1, text);
    free(err);
    return says(text) && once;
}

static void write_sample(const char *name)
{
    char path[4200];
    abut_arrays s = { 0 };
    abut_writer *w;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "wb");
    if (!f || abut_writer_open(f, 0, &w, NULL)) abort();
    sample_model(&s);
    CHECK(!abut_writer_prov(w, "mesh-prep", "1", "{}", NULL) && !abut_writer_model(w, &s, NULL));
    for (int k = 0; k < 3; k++) {
        const abut_frame_head h = { k, 0.01 * k, ABUT_COMMITTED };
        abut_arrays_clear(&s);
        sample_frame(&s, k);
        CHECK(!abut_writer_frame(w, &h, &s, NULL));
    }
    CHECK(!abut_writer_close(w, NULL));
    abut_arrays_clear(&s);
    abut_writer_free(&w);
    fclose(f);
}

/* ---- what must be ---- */

TEST(options_are_read_in_every_spelling)
{
    CHECK(sh("$P in -n 7 --length=2.5 --name x --set a=1 --set b=2 -f -j2 >out") == 0);
    CHECK(says("steps 7 length 2.5 name x sets 2b=2 flag 1 threads 2"));
    CHECK(sh("$P -n-4 -l -1e-3 --name= -- in >out") == 0 && says("steps -4 length -0.001 name  sets 0"));
    CHECK(sh("$P -q in >out") == 0 && sh("test ! -s err") == 0);
    CHECK(sh("$P - -n 1 -n 2 <in >out") == 0 && says("steps 2"));
}

TEST(a_program_may_leave_the_output_of_its_command_line_alone)
{
    CHECK(sh("NOWHERE=1 $P in -o nowhere") == 0 && sh("test ! -e nowhere && test ! -e nowhere.part") == 0);
    CHECK(sh("NOWHERE=1 $P in >out") == 0 && sh("test ! -s out") == 0);
}

TEST(bad_options_exit_2_and_say_what_was_expected)
{
    static const struct { const char *args, *says; } bad[] = {
        { "--stepz 3", "did you mean --steps?" },  { "--stesp 3", "did you mean --steps?" },
        { "--zzzzz", "unknown option '--zzzzz'" }, { "-x", "unknown option '-x'" },
        { "-n 3x", "'3x' is not a whole number" }, { "-n ''", "'' is not a whole number" },
        { "-n ' 3'", "not a whole number" },       { "-n 3000000000", "between" },
        { "-n 1.5", "not a whole number" },        { "--length nan", "not finite" },
        { "--length 1e999", "not finite" },        { "--length 1,5", "not a number" },
        { "--length", "a value must follow" },     { "--flag=1", "takes no value" },
        { "-fn", "unknown option '-fn'" },         { "in in", "unexpected argument 'in'" },
        { "-j 0 in", "--threads: 0" },             { "--compress 10 in", "--compress: 10" },
        { "-o '' in", "--output '': expected the name of a file" },
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        CHECK(sh("$P %s >out", bad[i].args) == 2 && says(bad[i].says));
        CHECK(says("--help' lists the options") && sh("test ! -s out") == 0);
    }
    CHECK(sh("$P $(seq -f '--set %%g' 65) in >out") == 2 && says("more than 64"));
}

TEST(help_and_version_go_to_standard_output_and_exit_0)
{
    CHECK(sh("$P --help >help") == 0 && sh("$P -h | cmp - help") == 0);
    char *help = slurp("help");
    CHECK(strstr(help, "usage: ") && strstr(help, "  -n, --steps N  ") && strstr(help, "--length <m>"));
    CHECK(strstr(help, "--output FILE") && strstr(help, "--compress") && strstr(help, "Exit codes: 0 done"));
    for (const char *line = help; line && *line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL)
        CHECK(strcspn(line, "\n") <= 100);
    free(help);
    CHECK(sh("$P --version >out && grep -q '(abut) [0-9]' out") == 0);
    CHECK(sh("$P --help >/dev/full") == 5);
}

TEST(a_stream_passes_through_and_stray_prints_stay_out_of_it)
{
    CHECK(sh("$P --print <in >out1") == 0 && says("stray text"));
    CHECK(sh("$P -o out2 in && cmp out1 out2 && test ! -e out2.part") == 0);
    CHECK(sh("$P in | $P | cmp - out1") == 0);      /* the second record of the same stage adds nothing */
    CHECK(sh("$P --compress 9 -o out3 in && test $(wc -c <out3) -lt $(wc -c <out1) && $P out3 | cmp - out1") == 0);
}

TEST(each_failure_has_its_exit_code)
{
    CHECK(sh("$P --no in >out") == 1 && sh("$P out >out2 && cmp out out2") == 0);   /* a no is a result: the stream is whole */
    static const int code[] = { 0, 2, 5, 5, 3, 3, 4 };
    for (int status = ABUT_E_ARG; status <= ABUT_E_NUMERIC; status++) {
        CHECK(sh("$P --fail %d in >out", status) == code[status] && says("the probe fails as asked"));
        CHECK(sh("$P out >out2") == 3 && says("without an end mark"));      /* the next stage fails too */
    }
    CHECK(sh("$P no-such-file >out") == 3 && says("no-such-file: No such file"));
    CHECK(sh("$P . >out") == 3 && says("is a directory"));
    CHECK(sh("$P <help >out") == 3 && says("not an abut state stream"));
    CHECK(sh("$P </dev/null >out") == 3 && says("standard input is not an abut state stream: it is empty"));
}

TEST(a_failed_output_file_keeps_its_part_and_an_old_result_stays)
{
    CHECK(sh("$P -o kept in && cp kept copy && $P --fail 6 -o kept in") == 4);
    CHECK(says("kept.part keeps") && says("bytes of the unfinished output"));
    CHECK(sh("cmp kept copy") == 0 && sh("$P kept.part >out") == 3);
    CHECK(sh("$P -o kept in && test ! -e kept.part") == 0);
    CHECK(sh("$P -o fresh help") == 3 && sh("test ! -e fresh.part") == 0);    /* nothing written, nothing left */
    CHECK(sh("ln -sf kept link && $P --twice -o link in && test -L link && ! cmp -s kept copy") == 0);
    CHECK(sh("$P -o kept kept && $P --twice -o kept kept && $P kept >out") == 0);   /* reading what it replaces */
}

TEST(two_programs_cannot_write_the_same_file)
{
    CHECK(sh("$P --hang -o shared in & h=$!; while [ ! -s shared.part ]; do sleep 0.01; done; "
             "$P -o shared in; r=$?; kill $h; wait $h; exit $r") == 5);
    CHECK(says("another process is writing it"));
}

TEST(a_killed_stage_leaves_nothing_that_counts_as_whole)
{
    CHECK(sh("$P --hang -o dead in & h=$!; while [ ! -s dead.part ]; do sleep 0.01; done; kill -9 $h; wait $h; "
             "test ! -e dead && $P dead.part >out") == 3 && says("without an end mark"));
    CHECK(sh("mkfifo pipe; $P --hang in >pipe & h=$!; (sleep 0.2; kill -9 $h) & $P pipe >out") == 3);
    CHECK(says("without an end mark"));
}

/* 141: a shell's number for a program that SIGPIPE ended */
TEST(a_full_disk_is_reported_once_and_a_closed_pipe_ends_a_filter_without_a_word)
{
    CHECK(sh("$P in >/dev/full") == 5 && says("No space left"));
    CHECK(sh("$P -o /dev/full in") == 5 && says_once("No space left"));
    CHECK(sh("(sleep 0.1; $P in; echo $? >code) | true; sleep 0.4; exit $(cat code)") == 141);
    CHECK(!says("closed") && !says("output"));
    CHECK(sh("$P in >&-") == 5 && says("standard output: closed"));
    CHECK(sh("$P <&-") != 0);
    CHECK(sh("$P -o /no/such/folder/x in") == 5 && says("/no/such/folder/x.part: No such file"));
}

TEST(devices_and_fifos_are_written_directly)
{
    CHECK(sh("$P -o /dev/null in && test ! -e /dev/null.part") == 0);
    CHECK(sh("$P -o /dev/stdout in >out && $P in | cmp - out") == 0);
    CHECK(sh("rm -f fifo; mkfifo fifo; $P -o fifo in & $P fifo >out2; r=$?; cmp out out2 && exit $r") == 0);
}

TEST(a_stream_cut_at_any_section_is_refused_by_the_next_stage)
{
    CHECK(sh("n=$(wc -c <in); for k in 1 19 20 100 $((n / 2)) $((n - 1)); do head -c $k in | $P >out; [ $? = 3 ] || exit 9; "
             "done") == 0);
    CHECK(sh("cat in in | $P >out") == 3 && says("follows the end mark"));
}

TEST(a_manual_page_has_each_sentence_on_a_line_commands_as_they_are_typed_and_every_option)
{
    int n = 0;
    const char *text = NULL;
    const abut_opt own[] = {
        { 'n', "steps", ABUT_OPT_INT, &n, NULL, "time steps, of which each one has a length that the scene gives, in "
          "all more than 8" },
        { 0, "kind", ABUT_OPT_TEXT, &text, "a|b", "one of these\n\na\tthe first\nb\tthe second\tof two\nc" },
        { 0, "former", ABUT_OPT_FLAG, &n, NULL, NULL },
        { 0, "far", ABUT_OPT_ELSEWHERE, NULL, "watch", "opens a page" },
        { 0, "rules", ABUT_OPT_TOPIC, NULL, NULL, "\nfirst\tof all" },
        { 0, "rare", ABUT_OPT_FLAG, &n, NULL, "more" },
        { 0 }
    };
    const abut_opt common[] = { { 'q', "quiet", ABUT_OPT_FLAG, &n, NULL, ".part is removed" }, { 0 } };
    static const char *const summary = "Passes a stream on, 1.5 times: .x is kept.  'y' is too (it\nsays a. b) and \\ too.)\n"
        "Last line 3. of it.\n\n    step a | export b     shows \\ it\n    step c\n\n'z' begins.";
    static const char *const page = ".Nd passes a stream on, 1.5 times\n"
        ".Sh SYNOPSIS\n.Nm abut probe\n.Op Ar option ...\n.Op Ar SCENE.yaml \\*(Ba Ar MESH ...\n"
        ".Sh DESCRIPTION\nPasses a stream on, 1.5 times: .x is kept.\n\\&'y' is too (it says a. b) and \\e too.)\n"
        "Last line 3. of it.\n.Bd -literal -offset indent\nabut step a | abut export b   # shows \\e it\nabut step c\n.Ed\n"
        ".Pp\n\\&'z' begins.\n.Pp\nOptions:\n.Bl -tag -width Ds\n"
        ".It Fl n , Fl -steps Ar N\n"     /* 78 columns and not one more: */
        "time steps, of which each one has a length that the scene gives, in all more\nthan 8\n"
        ".It Fl -kind Ar a\\*(Bab\none of these\n.Bl -tag -width Ds\n.It a\nthe first\n.It b\nthe second: of two\n"
        ".It c\n.El\n"
        ".It Fl -rare\nmore\n.It Fl q , Fl -quiet\n\\&.part is removed\n.El\n"
        ".Bl -tag -width Ds\n.It first\nof all\n.El\n"
        ".Sh EXIT STATUS\n0 done, 1 the answer is no, 2 usage, 3 unusable input, 4 the solver gave up,\n5 system.\n";
    char got[4096] = "";
    FILE *f = fmemopen(got, sizeof got, "w");
    CHECK(f != NULL);
    if (!f) return;
    abut_manual_write(f, "probe", summary, "[SCENE.yaml | MESH ...]", own, common);
    fclose(f);
    CHECK(!strcmp(got, page));
    if (strcmp(got, page)) printf("# %s", got);
}

TEST(lines_of_a_manual_page_have_78_columns_at_most)
{
    for (int more = 0; more < 2; more++) {
        char help[120], got[400] = "";
        snprintf(help, sizeof help, "%070d %0*d z", 0, 7 + more, 0);
        const abut_opt own[] = { { 0, "x", ABUT_OPT_FLAG, NULL, NULL, help }, { 0 } }, none[] = { { 0 } };
        FILE *f = fmemopen(got, sizeof got, "w");
        if (!f) abort();
        abut_manual_write(f, "probe", "Does it.", "", own, none);
        fclose(f);
        const char *line = strstr(got, "000");
        CHECK(line && strcspn(line, "\n") == (more ? 70 : 78) && strspn(line + (more ? 71 : 79), "0") == (more ? 8 : 0));
        CHECK(strstr(got, ".Op Ar option ...\n.Sh DESCRIPTION\nDoes it.\n.Pp\nOptions:") != NULL);
    }
}

TEARDOWN
{
    if (check_failed) printf("# files: %s\n", folder);
    else if (sh("rm -rf %s", folder)) printf("# %s stays\n", folder);
}

int main(int argc, char **argv)
{
    if (argc > 1 && !strcmp(argv[1], "probe")) return probe(argc - 1, argv + 1);
    if (!realpath(argv[0], self) || !mkdtemp(folder)) return 99;
    write_sample("in");
    return check_all(argc, argv);
}
