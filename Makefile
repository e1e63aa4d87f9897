# abut: one Makefile, no recursion.  `make` builds bin/; `make check` runs every test; `make demo` shows the work.
# Variants: CC=clang, DEBUG=1, SANITIZE=1 (ASan + UBSan), THREADSAN=1 (clang), GPU=1 (with CUDA: nvcc 12 or later), PETSC=1 (with
# PETSc: Debian's petsc-dev), MPI=1 (step-mpi, with PETSc), each in its own folder under build/.

CC  ?= gcc
ifeq ($(origin CC),default)
# the runtime of gcc's OpenMP tells the thread sanitizer nothing of what it orders; clang's does, by archer
CC  := $(if $(THREADSAN),clang,gcc)
endif
# the C++ linker must know the OpenMP runtime of the C compiler
ifeq ($(origin CXX),default)
CXX := $(if $(findstring clang,$(notdir $(CC))),$(subst clang,clang++,$(CC)),g++)
endif
VERSION := 0.2.0
prefix      ?= /usr/local
bindir      ?= $(prefix)/bin
libexecdir  ?= $(prefix)/libexec
libdir      ?= $(prefix)/lib
includedir  ?= $(prefix)/include
# where Debian's python3 looks: under /usr without, elsewhere with its number
pythondir   ?= $(prefix)/lib/python3$(if $(filter-out /usr,$(prefix)),$(shell python3 -c 'import sys; print(".%d" % sys.version_info[1])' 2>/dev/null))/dist-packages
datadir     ?= $(prefix)/share
mandir      ?= $(datadir)/man
docdir      ?= $(datadir)/doc/abut

variant := $(notdir $(CC))$(if $(SANITIZE),-sanitize)$(if $(THREADSAN),-threadsan)$(if $(DEBUG),-debug)$(if $(GPU),-gpu)$(if $(MPI),-mpi,$(if $(PETSC),-petsc))
B       := build/$(variant)
BIN     := $(if $(filter gcc,$(variant)),bin,$B/bin)

, := ,
# clang warns where a simd pragma, which is a wish, cannot be granted
WARN := $(if $(findstring clang,$(notdir $(CC))),-Wno-pass-failed) -Wall -Wextra -Wpedantic -Wshadow -Wmissing-prototypes -Wstrict-prototypes -Wwrite-strings $(if $(WERROR),-Werror)
OPT  := $(if $(DEBUG),-O0,$(if $(SANITIZE)$(THREADSAN),-O1,-O2)) -g -fno-math-errno
# the kernels: short loops over the entries of small matrices are written out.  No bit changes
HOT  := lib/math/% lib/sparse/% lib/geom/% lib/energy/% lib/contact/% lib/judge/% lib/repair/% lib/gpu/% lib/solve/nodal/% \
        lib/solve/baselines/barrier_hessians.c lib/solve/baselines/ichol.c lib/solve/baselines/qp.c
OPT_HOT := $(if $(DEBUG)$(SANITIZE)$(THREADSAN),,-O3)
SAN  := $(if $(SANITIZE),-fsanitize=address$(,)undefined -fno-sanitize-recover=all -fno-omit-frame-pointer)$(if $(THREADSAN),-fsanitize=thread -fno-omit-frame-pointer)

PKGS     := zlib yaml-0.1
ALL_CPP  := -Ilib -I. -I/usr/include/suitesparse $(shell pkg-config --cflags $(PKGS) 2>/dev/null) \
            -D_POSIX_C_SOURCE=200809L -D_FILE_OFFSET_BITS=64 -DABUT_VERSION='"$(VERSION)"' \
            $(if $(DEBUG)$(SANITIZE)$(THREADSAN),-DABUT_POISON) -MMD -MP $(CPPFLAGS)
# the same objects are linked into the programs and into the shared library: hidden names are called as directly as in a program
PIC      := -fPIC -fvisibility=hidden -fno-semantic-interposition
ALL_C    := -std=c11 $(OPT) $(PIC) -fopenmp -ffp-contract=off $(WARN) $(SAN) $(CFLAGS)
ALL_CXX  := -std=c++17 $(OPT) -ffp-contract=off -Wall -Wextra $(SAN) $(CXXFLAGS)
ALL_LD   := -fopenmp $(SAN) $(LDFLAGS)
# the program picture needs EGL and OpenGL and is built where they are found; nothing else is linked with them
GL       := $(shell pkg-config --exists egl gl 2>/dev/null && echo yes)
# CHOLMOD and OpenBLAS are loaded by what needs them (lib/math/blas.h)
LIBS     := -lamd -lmetis $(shell pkg-config --libs $(PKGS) 2>/dev/null) -lgmp -lm -ldl
# solvers of PETSc, only where they are asked for; MPI comes with it, and step-mpi only where that is asked for
ifdef MPI
PETSC := 1
endif
PETSC_PC := $(if $(PETSC),PETSc mpi-c)
ifdef PETSC
ALL_CPP  += $(patsubst -I%,-isystem %,$(shell pkg-config --cflags-only-I $(PETSC_PC) 2>/dev/null))
LIBS     += $(shell pkg-config --libs $(PETSC_PC) 2>/dev/null)
endif
GL_LIBS  := $(if $(GL),$(shell pkg-config --libs egl gl))

TOOLS := mesh-prep springs tear decompose step friction-lag strain-limit ccd-check salvage adjoint export watch $(if $(GL),picture) $(if $(MPI),step-mpi)
# the core, libabut.a, and parts beside it, libabut_NAME.a: a program is linked with the parts that it uses (PULL), and the core
# refers to none but by weak names.  `make layers` proves that it includes nothing of them
PARTS := gpu picture $(if $(PETSC),petsc)
SOURCES_gpu     := $(wildcard lib/gpu/*.c lib/solve/device/*.c)
SOURCES_picture := $(filter-out %/draw_gl.c,$(wildcard formats/picture/*.c))
SOURCES_petsc   := $(wildcard lib/sparse/petsc/*.c) $(if $(MPI),$(wildcard lib/base/mpi/*.c))
NOT_CORE := lib/gpu/% lib/solve/device/% lib/sparse/petsc/% lib/base/mpi/% formats/picture/% tools/picture.c tools/step-mpi.c
LIB   := $(patsubst %.c,$B/%.o,$(filter-out $(NOT_CORE) $(TOOLS:%=tools/%.c),$(wildcard lib/*/*.c lib/*/*/*.c formats/*/*.c abut/*.c tools/*.c tools/*/*.c)))
ARCHIVES := $(PARTS:%=$B/libabut_%.a) $B/libabut.a
# the numeric phases of the sparse Cholesky once more, for floats (lib/sparse/own/real.h)
LIB   += $(patsubst %,$B/lib/sparse/own/%_float.o,factor solve)
UNIT  := $(patsubst tests/unit/%.c,$B/unit/%,$(wildcard tests/unit/test_*.c))
AIDS  := $(patsubst tests/tools/%.c,$B/tests/%,$(wildcard tests/tools/*.c)) $(patsubst tests/preload/%.c,$B/tests/%.so,$(wildcard tests/preload/*.c))
built := $(addprefix $(BIN)/,$(patsubst tools/%.c,%,$(filter $(TOOLS:%=tools/%.c),$(wildcard tools/*.c))))

# kernels are compiled twice: by CC into loops, by nvcc into functions of a GPU.  Neither contracts a*b + c.
NVCC   ?= $(or $(shell command -v nvcc 2>/dev/null),/usr/local/cuda/bin/nvcc)
CODE   ?= -gencode arch=compute_80,code=sm_80 -gencode arch=compute_89,code=sm_89 -gencode arch=compute_90,code=sm_90 \
          -gencode arch=compute_90,code=compute_90
ALL_CU := -std=c++17 -O3 -lineinfo -fmad=false -ftz=false -prec-div=true -prec-sqrt=true --Werror cross-execution-space-call \
          -Xcompiler -ffp-contract=off,-fPIC,-Wall $(CODE) $(NVCCFLAGS)
CU     := $(patsubst lib/gpu/k_%.c,$B/cuda/k_%.o,$(wildcard lib/gpu/k_*.c)) $B/cuda/cuda.o
ifdef GPU
LIBS   += -L$(patsubst %/bin/nvcc,%/lib64,$(NVCC)) -lcudart_static -ldl -lrt -lpthread -lstdc++
endif

# what a variant needs and does not find is said before anything is compiled: $1, a command that succeeds, else $2 and $3
need   = $(if $(shell { $1; } >/dev/null 2>&1 && echo yes),,$(error $2: $3))
links  = (t=$$(mktemp) && echo 'int main(void) { return 0; }' | $1 -x $2 $(if $(filter c,$2),-fopenmp) $(SAN) - -o $$t; r=$$?; rm -f $$t; exit $$r)
goals := $(or $(MAKECMDGOALS),all)
ifneq ($(filter-out clean uninstall layers format deps demo check check-all check-experiments,$(goals)),)
$(if $(PETSC),$(call need,pkg-config --exists $(PETSC_PC),$(if $(MPI),MPI,PETSC)=1: no PETSc with MPI,sudo apt-get install petsc-dev))
$(if $(GPU)$(filter gpu-%,$(goals)),$(call need,$(NVCC) --version | grep -qE 'release (1[2-9]|[2-9][0-9])\.',$\
    $(if $(GPU),GPU=1,$(goals)): no nvcc 12 or later at $(NVCC),install NVIDIA's CUDA toolkit$(,) or say where it is: NVCC=/path/to/nvcc))
$(if $(SAN)$(findstring clang,$(CC)),$(call need,$(call links,$(CC),c) && $(call links,$(CXX),c++),$\
    $(if $(THREADSAN),THREADSAN=1: ,$(if $(SANITIZE),SANITIZE=1: ))$(CC) does not link programs with OpenMP$(if $(SAN), and $(SAN)),$\
    sudo apt-get install $(if $(findstring clang,$(CC)),clang libomp-dev$(if $(SAN), libclang-rt-dev),gcc g++)))
$(if $(GL)$(filter-out file,$(origin GL))$(filter-out all install bin/picture,$(goals)),,$(info picture is not built, for want of EGL $\
    and OpenGL: sudo apt-get install libegl-dev libgl-dev))
endif

# one short line a command; V=1 shows the commands
run = $(if $(V),,@$(if $(findstring s,$(firstword -$(MAKEFLAGS))),,echo "  $1";))

# what a program of one's own includes, from the folders of the floors it is of, as <abut/NAME.h> in the checkout and where installed
PUBLIC := lib/base/err.h lib/base/array.h formats/stream/state_io.h lib/energy/element_energy.h abut/run.h abut/abut.h
HEADERS := $(addprefix include/abut/,$(notdir $(PUBLIC)))

all: $(built) $(BIN)/abut $(HEADERS)

define header
include/abut/$(notdir $1): $1 Makefile
	@mkdir -p $$(@D)
	@sed 's|^#include "\([a-z_]*/\)*|#include "|' $$< > $$@
endef
$(foreach h,$(PUBLIC),$(eval $(call header,$h)))

# abut NAME ...: the dispatcher, beside its programs here and on the PATH where installed
$(BIN)/abut: tools/abut.in Makefile
	@mkdir -p $(@D)
	@$(fill) -e 's|@programs@|"$$(dirname -- "$$(readlink -f -- "$$0")")"|' -e 's|@manuals@|Documents: README.md, docs/COOKBOOK.md, formats/SCENE.md|' \
	    $< > $@.new
	@chmod 755 $@.new
	@mv $@.new $@

$B/libabut.a: $(LIB)
$(foreach p,$(PARTS),$(eval $B/libabut_$p.a: $(SOURCES_$p:%.c=$B/%.o)))
$B/libabut_gpu.a: $(if $(GPU),$(CU))
$(ARCHIVES):
	@rm -f $@
	@ar cqs $@ $^

# steps have every device and linear solver that is built
$(if $(PETSC),$(BIN)/step $(BIN)/step-mpi $(UNIT) $B/gpu/trace $B/bench/bench_solvers: PULL += -Wl$(,)-u$(,)abut_linear_petsc_schwarz)
$(BIN)/step $(BIN)/step-mpi $B/unit/test_device $B/gpu/trace: PULL += -Wl,-u,abut_device_parse

# what is installed of it: all but what only the programs of the toolkit are made of.  The names of the shared library are those of
# the public headers (ABUT_PUBLIC_BEGIN), which change with its soname
SONAME := libabut.so.0
$B/installed/libabut.a: $(filter-out $B/tools/%,$(LIB))
	@mkdir -p $(@D)
	@rm -f $@
	@ar cqs $@ $^

# what the public headers declare, and all that it needs
$B/installed/libabut.so.$(VERSION): $(patsubst %.h,$B/%.o,$(filter-out %/element_energy.h %/abut.h,$(PUBLIC))) $B/installed/libabut.a
	$(call run,LD $@) $(CC) -shared $(ALL_LD) -Wl,-soname,$(SONAME) -Wl,--exclude-libs,libabut.a $(if $(SAN),,-Wl,-z,defs -Wl$(,)--as-needed) $^ $(LIBS) -o $@

$B/%.o: %.c Makefile
	@mkdir -p $(@D)
	$(call run,CC $<) $(CC) $(ALL_CPP) $(ALL_C) $(if $(filter $(HOT),$<),$(OPT_HOT)) -c $< -o $@

# the page of export --html is made of files that this object embeds
$B/formats/html/page_data.o: $(wildcard formats/html/*.html formats/html/*.css formats/html/*.js formats/html/viewer/*.js)

$B/lib/sparse/own/%_float.o: lib/sparse/own/%.c Makefile
	@mkdir -p $(@D)
	$(call run,CC $< (float)) $(CC) $(ALL_CPP) -DABUT_FLOAT $(ALL_C) $(OPT_HOT) -c $< -o $@

# products of factors: a multiplication and an addition in one instruction where the processor has it
$B/lib/gpu/machine.o: ALL_CPP += $(if $(GPU),-DABUT_CUDA)
$B/lib/sparse/own/factor.o $B/lib/sparse/own/factor_float.o: ALL_C += -ffp-contract=fast

$B/%.o: %.cc Makefile
	@mkdir -p $(@D)
	$(call run,CXX $<) $(CXX) $(ALL_CPP) $(ALL_CXX) -c $< -o $@

$B/cuda/k_%.o: lib/gpu/k_%.c Makefile
	@mkdir -p $(@D)
	$(call run,NVCC $<) $(NVCC) -x cu $(ALL_CPP) $(ALL_CU) -c $< -o $@

$B/cuda/%.o: lib/gpu/%.cu Makefile
	@mkdir -p $(@D)
	$(call run,NVCC $<) $(NVCC) $(ALL_CPP) $(ALL_CU) -c $< -o $@

# all that nvcc compiles, without linking: where it is installed
gpu-compile: $(CU)

$(filter-out $(BIN)/mesh-prep $(BIN)/picture,$(TOOLS:%=$(BIN)/%)): $(BIN)/%: $B/tools/%.o $(ARCHIVES)
	@mkdir -p $(@D)
	$(call run,LD $@) $(CC) $(ALL_LD) $(PULL) $^ $(LIBS) -o $@

# the same programs with the core alone
core: $(patsubst %,$B/core/%,$(filter-out picture step-mpi,$(TOOLS)))
$B/core/%: $B/tools/%.o $B/libabut.a
	@mkdir -p $(@D)
	$(call run,LD $@) $(CC) $(ALL_LD) $^ $(LIBS) -o $@
$B/core/mesh-prep: $B/tools/mesh-prep.o $B/lib/mesh/tetra.o $B/libabut.a
	@mkdir -p $(@D)
	$(call run,LD $@) $(CXX) $(ALL_LD) $^ -ltet $(LIBS) -o $@
# and its unit programs
PARTLY := $(shell grep -lE '"(gpu/[a-z]*\.h|solve/device|formats/picture|machine_open)|abut_device_parse' tests/unit/test_*.c)
core-unit: $(patsubst tests/unit/%.c,$B/core/unit/%,$(filter-out $(PARTLY),$(wildcard tests/unit/test_*.c)))
	@tests/run-unit $^
$B/core/unit/%: $B/unit/%.o $B/libabut.a
	@mkdir -p $(@D)
	$(call run,LD $@) $(CC) $(ALL_LD) $^ $(LIBS) -o $@

# tetgen is C++ and AGPL: mesh-prep alone links it
$(BIN)/mesh-prep: $B/tools/mesh-prep.o $B/lib/mesh/tetra.o $(ARCHIVES)
	@mkdir -p $(@D)
	$(call run,LD $@) $(CXX) $(ALL_LD) $^ -ltet $(LIBS) -o $@

$(BIN)/picture: $B/tools/picture.o $B/formats/picture/draw_gl.o $(ARCHIVES)
	@mkdir -p $(@D)
	$(call run,LD $@) $(CC) $(ALL_LD) $^ $(LIBS) $(GL_LIBS) -o $@

# -O1: most of their time is in the library.  No bit changes
$B/unit/%.o: tests/unit/%.c Makefile
	@mkdir -p $(@D)
	$(call run,CC $<) $(CC) $(ALL_CPP) $(ALL_C:-O2=-O1) -Itests/unit -c $< -o $@

$B/unit/%: $B/unit/%.o $(ARCHIVES)
	$(call run,LD $@) $(CC) $< $(ALL_LD) $(PULL) $(ARCHIVES) $(LIBS) -o $@

$B/unit/test_cholesky_symbolic $B/core/unit/test_cholesky_symbolic: LIBS += -lcholmod
$B/bench/bench_linalg: LIBS += -lopenblas

# programs that the tool tests run
$B/tests/%: tests/tools/%.c $(ARCHIVES) Makefile
	@mkdir -p $(@D)
	$(call run,CC $<) $(CC) $(ALL_CPP) $(ALL_C) $< $(ALL_LD) $(PULL) $(ARCHIVES) $(LIBS) -o $@

# programs for a machine with a GPU
$B/gpu/%: tests/gpu/%.c $(ARCHIVES) Makefile
	@mkdir -p $(@D)
	$(call run,CC $<) $(CC) $(ALL_CPP) $(ALL_C) -Itests/gpu $< $(ALL_LD) $(PULL) $(ARCHIVES) $(LIBS) -o $@

gpu-tests: all $B/gpu/trace $B/gpu/compare $(filter $B/unit/test_machine $B/unit/test_device $B/unit/test_gpu_%,$(UNIT))

# what goes before a program (LD_PRELOAD) to let the system fail; never sanitized
$B/tests/%.so: tests/preload/%.c Makefile
	@mkdir -p $(@D)
	$(call run,CC $<) $(CC) -std=c11 -O1 -g $(WARN) -fPIC -shared $< -o $@ -ldl

# fuzz targets: the engine is tests/fuzz/driver.c, or libFuzzer (tests/fuzz/run chooses)
ENGINE ?= tests/fuzz/driver.c
$B/fuzz/%: tests/fuzz/%.c tests/fuzz/seed.c tests/fuzz/fuzz.h $(ARCHIVES) Makefile
	@mkdir -p $(@D)
	$(call run,CC $<) $(CC) $(ALL_CPP) $(ALL_C) $< tests/fuzz/seed.c $(ENGINE) $(ALL_LD) $(PULL) $(ARCHIVES) $(LIBS) -o $@

$B/bench/%: tests/bench/%.c $(ARCHIVES) Makefile
	@mkdir -p $(@D)
	$(call run,CC $<) $(CC) $(ALL_CPP) $(ALL_C) $< $(ALL_LD) $(PULL) $(ARCHIVES) $(LIBS) -o $@

unit: $(UNIT)
	@tests/run-unit $(UNIT)

layers:
	@tests/layers

fuzz:
	@tests/fuzz/run $(SECONDS)

# Minutes to hours: the geometric claims on many more random inputs (rational arithmetic as the judge), then the readers on
# mutated input, SECONDS (default 30) each; waves, beams and plates on finer meshes; all under ASan + UBSan
LONG := beam manufactured slender ccd ccd_exact ccd_inclusion ccd_within impact predicates zpoly
check-long:
	@$(MAKE) --no-print-directory -s SANITIZE=1 long-unit
	@tests/fuzz/run $(SECONDS)
long-unit: $(LONG:%=$B/unit/test_%)
	@ABUT_LONG=1 tests/run-unit $^

# Attacks, under half an hour: every array with every bad value (sanitized), failing allocations, random scenes with a judge, ...
# ATTACKS="scenes" runs some, SEED=7 repeats, ATTACK_SECONDS=60 shortens
attack: all $(AIDS)
	@$(MAKE) --no-print-directory -s SANITIZE=1 all
	@tests/attacks $(BIN) build/$(notdir $(CC))-sanitize/bin $B/tests $(ATTACKS)

# the two commands of the README install what is missing first, then build and run in a second make, by all processors unless -j says.
# check: all but slow tests and tests of experiments; check-all: every test; check-experiments: those of the scripts of experiments
jobs = $(if $(filter -j%,$(MAKEFLAGS)),,-j$(shell nproc))
check check-all check-experiments: deps
	@$(MAKE) $(jobs) --no-print-directory what-tests-run
	@tests/check $(filter --%,$(@:check%=-%)) $(BIN) $(UNIT)
what-tests-run: aids $(UNIT)
# what suites of bats run besides the programs
aids: all $(AIDS)

demo: deps
	@$(MAKE) $(jobs) --no-print-directory all
	@pipelines/examples/demo.sh

# what only tests need; where mandoc, zsh and fish are, they are tested, too
check check-all check-experiments: TESTED := bats
deps:
	@WANT="$(if $(filter clang,$(notdir $(CC))),clang libomp-dev) $(if $(PETSC),petsc-dev) $(TESTED)" .ci/deps

bench: all
	@tests/bench/bench $(BIN) $(BASELINE)

# linear solvers on Newton's equations of some scenes, products of rank one: TSV
bench-solvers: all $B/bench/bench_solvers
	@tests/bench/solvers $B $(BIN)

bench-geometry: $B/bench/bench_geom $B/bench/bench_broad $B/bench/bench_contact $B/bench/bench_barrier_hessians $B/bench/bench_elements
	@tests/bench/geometry $B

# the smallest scene of each experiment beside its table, in a minute or two
results-check: all
	@BIN=$(BIN) pipelines/experiments/bin/tables --check

format:
	clang-format -i lib/*/*.[ch] lib/*/*/*.[ch] formats/*/*.[ch] abut/*.[ch] tools/*.[ch] tools/*/*.[ch]

fill     = sed $(foreach v,prefix libdir includedir libexecdir docdir CC,-e 's|@$v@|$($v)|') -e 's|@version@|$(VERSION)|' \
             -e 's|@tools@|$(TOOLS)|' -e 's|@link@|$(SAN)|' -e 's|@libs@|$(strip $(ALL_LD) $(LIBS))|'

PYTHON_FILES := abut_stream.py $(patsubst formats/python/%,%,$(wildcard formats/python/abut/*.py)) abut/py.typed

# manual pages: what programs say of themselves and what docs/man adds, of the date of the version in CHANGELOG.md
DATED := $(shell LC_ALL=C date -d "$$(sed -n 's/^\#\# $(VERSION), //p' CHANGELOG.md)" '+%B %e, %Y' 2>/dev/null)
# documents and the results and pictures that they point to; docs/gallery, 6 MB, and the scripts of pipelines stay in the tree
DOCS  := README.md CHANGELOG.md CONTRIBUTING.md $(wildcard tests/bench/*.md) tests/bench/reference.tsv \
         $(wildcard docs/*.md formats/*.md pipelines/experiments/*.md) \
         $(wildcard pipelines/*/pictures/*.png pipelines/*/*/pictures/*.png) \
         $(wildcard $(foreach e,md tsv svg,pipelines/experiments/*/*.$e tests/gpu/results/*.$e))
PAGES := $(addprefix $B/man/,abut.1 $(TOOLS:%=abut-%.1) abut-stream.5)
$B/man/abut-%.1: $(BIN)/% docs/man/page $(wildcard docs/man/*.in) CHANGELOG.md
	@mkdir -p $(@D)
	@docs/man/page $< "$(DATED)" > $@
$B/man/abut.1: $(TOOLS:%=$(BIN)/%) docs/man/page docs/man/abut.in CHANGELOG.md
	@mkdir -p $(@D)
	@docs/man/page abut "$(DATED)" $(TOOLS:%=$(BIN)/%) > $@
$B/man/abut-stream.5: docs/man/abut-stream.5.in CHANGELOG.md Makefile
	@mkdir -p $(@D)
	@sed 's/@date@/$(DATED)/' $< > $@

# generic names stay off the PATH: libexec/abut/NAME, and one dispatcher, `abut NAME ...`
install: all $B/installed/libabut.a $B/installed/libabut.so.$(VERSION) $(PAGES)
	install -d $(DESTDIR)$(libexecdir)/abut $(DESTDIR)$(bindir)
	install -m 755 $(TOOLS:%=$(BIN)/%) $(DESTDIR)$(libexecdir)/abut/
	$(fill) -e 's|@programs@|$(libexecdir)/abut|' -e 's|@manuals@|Manual pages: abut, abut-NAME, abut-stream.  Documents: $(docdir)|' \
	    tools/abut.in > $(DESTDIR)$(bindir)/abut
	chmod 755 $(DESTDIR)$(bindir)/abut
	install -D -m 644 tools/abut.bash $(DESTDIR)$(datadir)/bash-completion/completions/abut
	install -D -m 644 tools/abut.zsh $(DESTDIR)$(datadir)/zsh/site-functions/_abut
	install -D -m 644 tools/abut.fish $(DESTDIR)$(datadir)/fish/vendor_completions.d/abut.fish
	for p in $(notdir $(PAGES)); do install -D -m 644 $B/man/$$p $(DESTDIR)$(mandir)/man$${p##*.}/$$p || exit 1; done
	for d in $(DOCS); do install -D -m 644 $$d $(DESTDIR)$(docdir)/$$d || exit 1; done
	install -d $(DESTDIR)$(libdir)/pkgconfig
	install -m 644 $B/installed/libabut.a $B/installed/libabut.so.$(VERSION) $(DESTDIR)$(libdir)/
	ln -sf libabut.so.$(VERSION) $(DESTDIR)$(libdir)/$(SONAME)
	ln -sf $(SONAME) $(DESTDIR)$(libdir)/libabut.so
	$(fill) tools/abut.pc.in > $(DESTDIR)$(libdir)/pkgconfig/abut.pc
	install -d $(DESTDIR)$(includedir)/abut
	install -m 644 $(HEADERS) $(DESTDIR)$(includedir)/abut/
	for p in $(PYTHON_FILES); do install -D -m 644 formats/python/$$p $(DESTDIR)$(pythondir)/$$p || exit 1; done

# commands of the shell have them as words
blank := $(strip $(foreach v,DESTDIR prefix bindir libdir libexecdir includedir datadir docdir mandir pythondir,$(if $(word 2,$($v)),$v)))
$(if $(and $(filter install uninstall,$(MAKECMDGOALS)),$(blank)),$(error $(firstword $(blank)) has a blank: expected a path without))

# all that install puts there, and the folders of its own that are empty then; what others have put into them stays
uninstall:
	rm -f $(foreach t,$(TOOLS) picture step-mpi,$(DESTDIR)$(libexecdir)/abut/$t) $(DESTDIR)$(bindir)/abut
	rm -f $(addprefix $(DESTDIR)$(datadir)/,bash-completion/completions/abut zsh/site-functions/_abut fish/vendor_completions.d/abut.fish)
	rm -f $(foreach p,$(notdir $(PAGES)) abut-picture.1 abut-step-mpi.1,$(DESTDIR)$(mandir)/man$(subst .,,$(suffix $p))/$p) $(DOCS:%=$(DESTDIR)$(docdir)/%)
	rm -f $(addprefix $(DESTDIR)$(libdir)/,libabut.a libabut.so $(SONAME) libabut.so.$(VERSION) pkgconfig/abut.pc)
	rm -f $(addprefix $(DESTDIR)$(includedir)/abut/,$(notdir $(PUBLIC)))
	rm -rf $(PYTHON_FILES:%=$(DESTDIR)$(pythondir)/%) $(DESTDIR)$(pythondir)/abut/__pycache__
	for d in $(DESTDIR)$(libexecdir)/abut $(DESTDIR)$(includedir)/abut $(DESTDIR)$(docdir) $(DESTDIR)$(pythondir)/abut; do \
	    if [ -d $$d ]; then find $$d -depth -type d -exec rmdir --ignore-fail-on-non-empty {} +; fi; done

# Debian packages in build/deb: of the tree, compiled anew as Debian asks for, judged by lintian where it is
deb:
	@mkdir -p build/deb
	@packaging/deb build/deb

clean:
	rm -rf build bin include

.PHONY: all core core-unit what-tests-run aids unit gpu-compile gpu-tests layers fuzz attack check-long long-unit check check-all check-experiments demo deps bench \
        bench-solvers bench-geometry results-check format install uninstall deb clean
.SECONDARY:
-include $(shell find $B -name '*.d' 2>/dev/null)
