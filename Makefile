# SPDX-License-Identifier: MIT
# hatftrace - 'make help' lists the targets.
#
# Variables you may set, on the command line or in the environment:
#   V=1                              show every command
#   SAN=address,undefined | thread   build and test under sanitizers
#   WERROR=1                         warnings are errors (as with CI=true)
#   ISAL=0 LIBDEFLATE=0              use zlib instead of isa-l or libdeflate
#   ZSTD=0 LZ4=0                     build without them: such files are refused
#   LIBDW=0 LIBIBERTY=0              build without: no symbols, mangled names
#   CAIRO=0                          build without: 'hatf plot' writes SVG only
#   CC CXX CFLAGS CXXFLAGS CPPFLAGS LDFLAGS   come after the project's own
#   PREFIX BINDIR LIBDIR INCDIR MANDIR DTDDIR DESTDIR   folders of 'install'

.SUFFIXES:
.DELETE_ON_ERROR:
.DEFAULT_GOAL := all

PREFIX ?= /usr/local
BINDIR ?= $(PREFIX)/bin
LIBDIR ?= $(PREFIX)/lib
INCDIR ?= $(PREFIX)/include
MANDIR ?= $(PREFIX)/share/man
DTDDIR ?= $(PREFIX)/share/hatftrace
SAN    ?=
comma  := ,
ccname := $(patsubst cc,gcc,$(notdir $(firstword $(CC))))
B      := build/$(if $(SAN),$(ccname)-$(subst $(comma),-,$(SAN)),plain)
Q      := $(if $(filter 1,$(V)),,@)
say     = @$(if $Q,printf '  %-7s %s\n' $1 $(or $2,$@))
VERSION := $(shell sed -n 's/^\#define HATF_VERSION "\(.*\)"/\1/p' hatf/hatf.h)

# ------------------------------------------------------------------- flags
# The include line goes through the compiler, so a cross compiler works too.
ISAL ?= $(shell echo '\#include <isa-l/igzip_lib.h>' | \
	$(CC) $(CPPFLAGS) -E -xc - >/dev/null 2>&1 && echo 1)
override ISAL := $(filter 1,$(ISAL))
LIBDEFLATE ?= $(shell echo '\#include <libdeflate.h>' | \
	$(CC) $(CPPFLAGS) -E -xc - >/dev/null 2>&1 && echo 1)
override LIBDEFLATE := $(filter 1,$(LIBDEFLATE))
ZSTD ?= $(shell echo '\#include <zstd.h>' | \
	$(CC) $(CPPFLAGS) -E -xc - >/dev/null 2>&1 && echo 1)
override ZSTD := $(filter 1,$(ZSTD))
LZ4 ?= $(shell echo '\#include <lz4frame.h>' | \
	$(CC) $(CPPFLAGS) -E -xc - >/dev/null 2>&1 && echo 1)
override LZ4 := $(filter 1,$(LZ4))
# What the command alone needs.
LIBDW ?= $(shell echo '\#include <elfutils/libdwfl.h>' | \
	$(CC) $(CPPFLAGS) -E -xc - >/dev/null 2>&1 && echo 1)
override LIBDW := $(filter 1,$(LIBDW))
LIBIBERTY ?= $(shell echo '\#include <libiberty/demangle.h>' | \
	$(CC) $(CPPFLAGS) -E -xc - >/dev/null 2>&1 && echo 1)
override LIBIBERTY := $(filter 1,$(LIBIBERTY))
# Only its headers: 'hatf plot' loads the library when it writes a PNG file.
CAIRO ?= $(shell echo '\#include <cairo/cairo.h>' | \
	$(CC) $(CPPFLAGS) -E -xc - >/dev/null 2>&1 && echo 1)
override CAIRO := $(filter 1,$(CAIRO))
SYMBOL_LIBS := $(if $(LIBDW),-ldw -lelf) $(if $(LIBIBERTY),-liberty)
FRAME_LIBS := $(if $(ZSTD),-lzstd) $(if $(LZ4),-llz4)
# The path of the static library $1, to be linked into ours; if there is none,
# the option $2.
static_or = $(or $(filter /%,$(shell $(CC) -print-file-name=$1)),$2)
# The libraries that libhatf.so is linked with, and those that a program needs
# in addition to libhatf.a.
HATF_LIBS := $(if $(LIBDEFLATE),$(call static_or,libdeflate.a,-ldeflate)) \
	-lz $(FRAME_LIBS) -lexpat
HATF_LIBS_PRIVATE := $(if $(LIBDEFLATE),-ldeflate) -lz $(FRAME_LIBS) -lexpat \
	-pthread
LIBS := $(HATF_LIBS) -ljansson $(SYMBOL_LIBS) -lpthread

WARN := -Wall -Wextra -Wpedantic -Wshadow -Wundef -Wvla -Wconversion \
	-Wno-sign-conversion -Wcast-qual -Wpointer-arith -Wwrite-strings \
	-Wformat=2 -Wimplicit-fallthrough -Wmissing-prototypes \
	-Wstrict-prototypes \
	$(if $(filter 1,$(WERROR))$(filter true,$(CI)),-Werror)
CPP_FLAGS := -D_GNU_SOURCE -I. $(if $(ISAL),-DHAVE_ISAL) \
	$(if $(LIBDEFLATE),-DHAVE_LIBDEFLATE) $(if $(ZSTD),-DHAVE_ZSTD) \
	$(if $(LZ4),-DHAVE_LZ4) $(if $(LIBDW),-DHAVE_LIBDW) \
	$(if $(LIBIBERTY),-DHAVE_LIBIBERTY) $(if $(CAIRO),-DHAVE_CAIRO)
# For a test under sanitizers, compiling takes longer than running.  -O1 and
# debug information without variables shorten it; CFLAGS=-g adds variables.  A
# fuzzer runs for long and gets -O2.
FUZZER := $(findstring fuzzer,$(SAN))$(findstring afl,$(CC))
QUICK := $(if $(FUZZER),,$(SAN))
OPTIMIZE := $(if $(QUICK),-O1,-O2)
DEBUG := $(if $(QUICK),-g1,-g)
# Sanitizers replace all of this.  'shstk' marks the output as compatible with
# shadow stacks; so are the start files and the static libraries that lack the
# mark.
X86 := $(filter x86_64-%,$(shell $(CC) -dumpmachine))
HARDEN := $(if $(SAN),,-fstack-protector-strong $(if $(X86),-fcf-protection))
HARDEN_LINK := -Wl,-z,relro,-z,now \
	$(if $(SAN),,$(if $(X86),-Wl$(comma)-z$(comma)shstk))
# Every process of a tree maps the recorder.  Put headers, code and constants
# into one mapping instead of three, have one table of hashes of names, and omit
# the start files, which C does not need here.
SMALL_LINK := -Wl,-z,noseparate-code -Wl,--hash-style=gnu \
	$(if $(SAN),,-nostartfiles)
FORTIFY := $(if $(SAN)$(filter -O0,$(CFLAGS)),,-U_FORTIFY_SOURCE \
	-D_FORTIFY_SOURCE=3)
FLAGS = -std=gnu11 $(OPTIMIZE) $(HARDEN) $(FORTIFY) $(DEBUG) -fPIC \
	-fvisibility=hidden $(WARN) \
	$(if $(SAN),-fsanitize=$(SAN) -fno-sanitize-recover=all \
		-fno-omit-frame-pointer) $(CPP_FLAGS) $(CPPFLAGS) $(CFLAGS)
# The compiler must not turn code that runs inside malloc into a call of malloc.
PRELOAD_FLAGS := -ftls-model=initial-exec -fexceptions \
	-fasynchronous-unwind-tables $(addprefix -fno-builtin-,malloc calloc \
	realloc free memalign aligned_alloc posix_memalign) \
	-Dsyscall=own_syscall -Dprctl=own_prctl
# -O0 and -fno-builtin keep every allocation in the source of a test program.
define program
	@mkdir -p $(@D)
	$(call say,$1)
	$Q$2 -O0 -g -fno-builtin -Wall -Wextra -D_GNU_SOURCE -MMD -MP \
		$(CPPFLAGS) $3 $(LDFLAGS) -o $@ $< -pthread -ldl -lm
endef

# ---------------------------------------------------------------- products
# The files below some folders, however deep, whose names match a pattern.
below = $(sort $(shell find $1 -name '$2'))
# Objects have a folder of their own: $B/hatf is the command.
obj   = $(patsubst %.c,$B/obj/%.o,$(wildcard $1))
unit  = $(patsubst %.c,$B/%,$(foreach name,$1,$(call below,tests/unit,$(name))))
LIB   := $B/libhatf.a
DSO   := $B/libhatf.so.0
SO    := $B/libhatftrace.so
CMD   := $B/hatf
PRELOAD := $(call obj,$(call below,preload,*.c))
LIBHATF := $(call obj,$(call below,hatf,*.c))
TOOLS := $(call obj,$(call below,tools,*.c))
# The rooms of hatf/ that run in a traced program.
ENCODER := $(call obj,$(addprefix hatf/,codec/*.c deflate/*.c rings/*.c \
	recorder/*.c))
# Under TSan, build only the unit tests of code that several threads run.  None
# of it is in tools/, and the fuzz targets have one thread.
TSAN  := $(filter thread,$(SAN))
UNIT  := $(call unit,$(if $(TSAN),test_ring*.c test_recorder*.c \
	test_stack_table.c test_input*.c,test_*.c))
FUZZ  := $(if $(TSAN),,$(patsubst %.c,$B/%,$(wildcard tests/fuzz/fuzz_*.c)))
PROGRAMS := $(patsubst %.c,$B/%,$(wildcard tests/capture/programs/*.c \
		tests/faults/programs/*.c)) \
	$(patsubst %.cc,$B/%,$(wildcard tests/capture/programs/*.cc))
BENCHES := $(patsubst %.c,$B/%,$(wildcard tests/bench/*.c))
MAN   := $(wildcard hatf/man/*.[1-9] preload/man/*.[1-9] tools/man/*.[1-9])
HEADERS := $(wildcard hatf/hatf*.h) preload/hatftrace.h
DTDS  := $(wildcard hatf/metatf/dtd/*.dtd)
SOURCES := $(filter-out tests/data/%, \
	$(call below,hatf preload tools tests,*.[ch]))

all: $(LIB) $B/libhatf.so $(SO) $(CMD) ## build everything that is installed

# Rewritten only when its content changes; every object depends on .flags.
$B/.flags: STAMP = $(CC) $(FLAGS) $(PRELOAD_FLAGS) $(LDFLAGS) $(CXX) $(CXXFLAGS)
$B/.libdir: STAMP = $(LIBDIR)
$B/.flags $B/.libdir: FORCE
	@mkdir -p $B
	@printf '%s\n' '$(STAMP)' > $@.$$PPID
	@if cmp -s $@ $@.$$PPID; then rm $@.$$PPID; else mv $@.$$PPID $@; fi

$B/obj/%.o: %.c $B/.flags
	@mkdir -p $(@D)
	$(call say,CC)
	$Q$(CC) $(FLAGS) -MMD -MP -c -o $@ $<

# 'private' keeps these out of the flags stamp, which is a prerequisite.
$B/obj/preload/%.o: private FLAGS += $(PRELOAD_FLAGS)
$B/obj/preload/%.o: private FORTIFY :=
# Here protect only functions with character arrays: more checks would slow down
# each recorded event.
$B/obj/preload/%.o: private HARDEN := $(HARDEN:%-strong=%)
$(ENCODER): private HARDEN := $(HARDEN:%-strong=%)
# With sections of their own, the linker puts small variables next to each other
# instead of between large ones, so they take fewer pages.
$B/obj/preload/%.o: private FLAGS += -fdata-sections
$(ENCODER): private FLAGS += -fdata-sections
$B/obj/preload/interpose/interpose_thread.o: private FLAGS += -fno-exceptions
# The writer thread runs this code for each event.
$(if $(QUICK),,$(filter-out $B/obj/hatf/recorder/%,$(ENCODER))): \
	private OPTIMIZE := -O3
# The recorder imports as little of libc as it can, so no checking functions.
$(ENCODER): private FORTIFY :=
# Compilers take minutes to add checks to the many jumps of this file.  No unit
# test runs it.
$B/obj/tools/driver/lane_fast.o: private FLAGS += \
	$(if $(SAN),-fno-sanitize=all)
$B/obj/tools/report/page_bytes.o: tools/report/page/dist/report.html \
	tools/report/page/dist/replay.html
$B/obj/hatf/formats/metatf/metatf.o: $(DTDS)
$B/obj/tools/metatf/templates.o: $(wildcard tools/metatf/templates/*)
$B/obj/tools/commands/record.o: private FLAGS += -DLIBDIR_STRING='"$(LIBDIR)"'
$B/obj/tools/commands/record.o: $B/.libdir

$(LIB): $(LIBHATF)
# Tests link these, which have neither main() nor the exported malloc().
PARTS := $(if $(TSAN),,$B/libtools.a) $B/libpreload.a
$B/libtools.a: $(filter-out %/commands/main.o,$(TOOLS))
$B/libpreload.a: $(filter-out $B/obj/preload/interpose/% %/raw_syscall.o, \
	$(PRELOAD))
$(LIB) $B/libtools.a $B/libpreload.a $B/libfuzz.a:
	$(call say,AR)
	$Qrm -f $@ && $(AR) rcs $@ $^

$(DSO): $(LIBHATF) hatf/libhatf.map
	$(call say,LINK)
	$Q$(CC) -shared $(FLAGS) -Wl,-soname,libhatf.so.0 -Wl,-z,defs \
		$(HARDEN_LINK) -Wl,--version-script=hatf/libhatf.map \
		-Wl,--exclude-libs,ALL $(LDFLAGS) -o $@ $(filter %.o,$^) \
		$(HATF_LIBS) -lpthread

$B/libhatf.so: $(DSO)
	$Qln -sf $(<F) $@

$(SO): $(PRELOAD) $(ENCODER) preload/exports.map \
		scripts/hide-symbols.sh
	$(call say,LINK)
	$Q$(CC) -shared $(FLAGS) -Wl,-z,defs,-z,nodelete $(HARDEN_LINK) \
		$(SMALL_LINK) -Wl,--version-script=preload/exports.map \
		-Wl,--exclude-libs,ALL -Wl,--as-needed \
		-Wl,--sort-section=name $(LDFLAGS) -o $@.new \
		$(filter %.o,$^) $(call static_or,libz.a,-lz) \
		-lpthread -ldl
	$Qscripts/hide-symbols.sh $@.new stdin __libc_start_main
	$Qmv $@.new $@

$(CMD): $(TOOLS) $(LIB)
	$(call say,LINK)
	$Q$(CC) $(FLAGS) -pie $(HARDEN_LINK) $(LDFLAGS) -o $@ $^ $(LIBS)

# ------------------------------------------------------------------- tests
# A new file in tests/ needs no entry here: its name is enough.
$B/tests/%: $B/obj/tests/%.o $(PARTS) $(LIB)
	@mkdir -p $(@D)
	$(call say,LINK)
	$Q$(CC) $(FLAGS) $(LDFLAGS) -o $@ $^ $(LIBS) -lpthread -ldl \
		$(if $(findstring /unit/,$@),$(shell pkg-config --libs check))

# What the fuzz targets share.  A fuzzer calls them, or replay.c does with the
# files of a corpus.
$B/libfuzz.a: $(filter-out $B/obj/tests/fuzz/fuzz_% %/replay.o, \
	$(call obj,tests/fuzz/*.c))
# Readers made from DTDs, for fuzz_generated.c.
GENERATED := collector hatf10 hatf_split mtrc
GEN_FLAGS := $(foreach n,COLLECTOR HATF10 HATF_SPLIT MTRC,-D$n_ZLIB=1)
$(foreach n,$(GENERATED),$B/gen/$n.c): $B/gen/%.c: hatf/metatf/dtd/%.dtd $(CMD)
	@mkdir -p $(@D)
	$(call say,GEN)
	$Q$(CMD) metatf gen -o $(@D) $< >/dev/null
$(foreach n,$(GENERATED),$B/gen/$n.o): $B/gen/%.o: $B/gen/%.c
	$(call say,CC)
	$Q$(CC) $(FLAGS) $(GEN_FLAGS) -c -o $@ $<
$B/obj/tests/fuzz/fuzz_generated.o: private FLAGS += -I$B/gen
$B/obj/tests/fuzz/fuzz_generated.o: | $(GENERATED:%=$B/gen/%.c)
$B/tests/fuzz/fuzz_generated: $(GENERATED:%=$B/gen/%.o)
ENGINE := $(if $(FUZZER),,replay)
$(FUZZ): $B/libfuzz.a $(ENGINE:%=$B/obj/tests/fuzz/%.o)
$(FUZZ): private LIBS := $(PARTS) $(LIB) $(LIBS) \
	$(if $(ENGINE),,-fsanitize=fuzzer)

$B/tests/capture/programs/%: tests/capture/programs/%.c $B/.flags
	$(call program,CC,$(CC) -std=gnu11,$(CFLAGS))
$B/tests/faults/programs/%: tests/faults/programs/%.c $B/.flags
	$(call program,CC,$(CC) -std=gnu11,$(CFLAGS))
$B/tests/capture/programs/%: tests/capture/programs/%.cc $B/.flags
	$(call program,CXX,$(CXX) -std=gnu++17,$(CXXFLAGS))

tests: all $(UNIT) $(FUZZ) $(PROGRAMS) ## build the programs that the tests run
unit-programs: $(UNIT) $(FUZZ)
unit-list: # what 'unit' runs
	@echo $(UNIT) $(FUZZ)
unit: unit-programs ## build and run the unit tests, replay the fuzz corpora
	$Qscripts/run-tests.sh -b $B $(UNIT) $(FUZZ)

# Run each target for FUZZ_SECONDS, in a build of its own with ASan and UBSan.
fuzz-programs: $(FUZZ)
fuzz: ## look for inputs that break the library, with libFuzzer
	$Qscripts/fuzz.sh libfuzzer
fuzz-afl: ## look for inputs that break the library, with AFL++
	$Qscripts/fuzz.sh afl

check: ## set the machine up, build, run every test
	$Qscripts/check.sh

demo: ## set the machine up, build, record and read a real program
	$Qscripts/demo.sh

check-san: ## run the unit tests under ASan+UBSan and TSan of gcc and clang
	$Qscripts/check-san.sh

bench-programs: all $(BENCHES)
bench: bench-programs ## measure the speed of the library (tests/bench)
	$Qfor t in $(filter-out %/lib.sh %/capture.sh, \
		$(wildcard tests/bench/*.sh)); \
		do BUILD=$(CURDIR)/$B $$t || exit; done

bench-capture: ## measure the cost of recording, compared with two peers
	$Qscripts/setup.sh bench
	$Q$(MAKE) bench-programs
	$QBUILD=$(CURDIR)/$B tests/bench/capture.sh

lint: all ## run clang-format, clang-tidy, shellcheck and the project's checks
	$Qscripts/lint.sh '$(CPP_FLAGS) $(CPPFLAGS)' $(SOURCES)

format: ## put every source file into the house layout
	$Qclang-format -i $(SOURCES)

# ----------------------------------------------------------------- install
# $(call man_path,hatf.1) is man1/hatf.1.
man_path = man$(subst .,,$(suffix $1))/$(notdir $1)

install: all ## install under $(DESTDIR)$(PREFIX)
	install -d $(addprefix $(DESTDIR),$(BINDIR) $(LIBDIR)/pkgconfig \
		$(INCDIR))
	install -m 755 $(CMD) $(DESTDIR)$(BINDIR)
	install -m 755 $(SO) $(DSO) $(DESTDIR)$(LIBDIR)
	ln -sf libhatf.so.0 $(DESTDIR)$(LIBDIR)/libhatf.so
	install -m 644 $(LIB) $(DESTDIR)$(LIBDIR)
	install -m 644 $(HEADERS) $(DESTDIR)$(INCDIR)
	install -D -m 644 hatf/hatf.dtd $(DESTDIR)$(DTDDIR)/hatf.dtd
	install -d $(DESTDIR)$(DTDDIR)/metatf
	install -m 644 $(DTDS) $(DESTDIR)$(DTDDIR)/metatf
	sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@VERSION@|$(VERSION)|' \
		-e 's|@LIBDIR@|$(LIBDIR:$(PREFIX)/%=$${prefix}/%)|' \
		-e 's|@INCDIR@|$(INCDIR:$(PREFIX)/%=$${prefix}/%)|' \
		-e 's|@LIBS_PRIVATE@|$(HATF_LIBS_PRIVATE)|' hatf/hatf.pc.in \
		> $(DESTDIR)$(LIBDIR)/pkgconfig/hatf.pc
	$(foreach m,$(MAN),install -D -m 644 $m \
		$(DESTDIR)$(MANDIR)/$(call man_path,$m) &&) true

uninstall: ## remove the installed files
	rm -f $(DESTDIR)$(BINDIR)/hatf $(DESTDIR)$(DTDDIR)/hatf.dtd \
		$(addprefix $(DESTDIR)$(DTDDIR)/metatf/,$(notdir $(DTDS))) \
		$(addprefix $(DESTDIR)$(INCDIR)/,$(notdir $(HEADERS))) \
		$(addprefix $(DESTDIR)$(LIBDIR)/,libhatftrace.so libhatf.so.0 \
		libhatf.so libhatf.a pkgconfig/hatf.pc) \
		$(foreach m,$(MAN),$(DESTDIR)$(MANDIR)/$(call man_path,$m))

clean: ## remove build/
	rm -rf build

help: ## print this list
	@awk -F ':.*## ' \
		'/^[a-z-]+:.*## / { printf "  %-14s %s\n", $$1, $$2 }' \
		$(firstword $(MAKEFILE_LIST))

-include $(shell find $B -name '*.d' 2>/dev/null)

FORCE:
.PHONY: all tests unit unit-programs unit-list check demo check-san bench \
	bench-programs bench-capture fuzz fuzz-afl fuzz-programs lint format \
	install uninstall clean help FORCE
.PRECIOUS: $B/obj/%.o
