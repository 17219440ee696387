# SPDX-License-Identifier: MIT
# hatftrace - 'make help' lists the targets.
#
# Variables you may set, on the command line or in the environment:
#   V=1                              show every command
#   SAN=address,undefined | thread   build and test under sanitizers
#   WERROR=1                         warnings are errors (as with CI=true)
#   ISAL=0 LIBDEFLATE=0              leave isa-l or libdeflate out: zlib does it
#   ZSTD=0 LZ4=0                     leave them out: such files are refused
#   CC CXX CFLAGS CXXFLAGS CPPFLAGS LDFLAGS   come after the project's own
#   PREFIX BINDIR LIBDIR INCDIR MANDIR DTDDIR DESTDIR   where 'install' puts things

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
FRAME_LIBS := $(if $(ZSTD),-lzstd) $(if $(LZ4),-llz4)
# A library inside ours where there is a static one, else beside it.
static_or = $(or $(filter /%,$(shell $(CC) -print-file-name=$1)),$2)
# What libhatf needs, in the shared library and beside the static one.
HATF_LIBS := $(if $(LIBDEFLATE),$(call static_or,libdeflate.a,-ldeflate)) -lz $(FRAME_LIBS) -lexpat
HATF_LIBS_PRIVATE := $(if $(LIBDEFLATE),-ldeflate) -lz $(FRAME_LIBS) -lexpat -pthread
LIBS := $(HATF_LIBS) -ljansson -lpthread

WARN := -Wall -Wextra -Wpedantic -Wshadow -Wundef -Wvla -Wconversion \
	-Wno-sign-conversion -Wcast-qual -Wpointer-arith -Wwrite-strings \
	-Wformat=2 -Wimplicit-fallthrough -Wmissing-prototypes \
	-Wstrict-prototypes \
	$(if $(filter 1,$(WERROR))$(filter true,$(CI)),-Werror)
CPP_FLAGS := -D_GNU_SOURCE -I. $(if $(ISAL),-DHAVE_ISAL) \
	$(if $(LIBDEFLATE),-DHAVE_LIBDEFLATE) $(if $(ZSTD),-DHAVE_ZSTD) \
	$(if $(LZ4),-DHAVE_LZ4)
OPTIMIZE := -O2
# Sanitizers do all of this better.  Shadow stacks are said to be fine
# ('shstk'), as they are for the start files and static libraries that say
# nothing of it.
X86 := $(filter x86_64-%,$(shell $(CC) -dumpmachine))
HARDEN := $(if $(SAN),,-fstack-protector-strong $(if $(X86),-fcf-protection))
HARDEN_LINK := -Wl,-z,relro,-z,now $(if $(SAN),,$(if $(X86),-Wl$(comma)-z$(comma)shstk))
# Every process of a tree maps the recorder.  Headers, code and constants in one
# mapping instead of three, and none of the start files, of which C needs
# nothing here.
SMALL_LINK := -Wl,-z,noseparate-code $(if $(SAN),,-nostartfiles)
FORTIFY := $(if $(SAN)$(filter -O0,$(CFLAGS)),,-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3)
FLAGS = -std=gnu11 $(OPTIMIZE) $(HARDEN) $(FORTIFY) -g -fPIC -fvisibility=hidden $(WARN) \
	$(if $(SAN),-fsanitize=$(SAN) -fno-sanitize-recover=all \
		-fno-omit-frame-pointer) $(CPP_FLAGS) $(CPPFLAGS) $(CFLAGS)
# What runs inside malloc must not be turned into a call of malloc.
PRELOAD_FLAGS := -ftls-model=initial-exec -fexceptions \
	-fasynchronous-unwind-tables $(addprefix -fno-builtin-,malloc calloc \
	realloc free memalign aligned_alloc posix_memalign) \
	-Dsyscall=own_syscall -Dprctl=own_prctl
# At -O0 without built-ins every allocation that a test program writes is made.
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
unit  = $(patsubst %.c,$B/%,$(wildcard $(addprefix tests/unit/,$1)))
LIB   := $B/libhatf.a
DSO   := $B/libhatf.so.0
SO    := $B/libhatftrace.so
CMD   := $B/hatf
PRELOAD := $(call obj,$(call below,preload,*.c))
LIBHATF := $(call obj,$(call below,hatf,*.c))
TOOLS := $(call obj,$(call below,tools,*.c))
# The rooms of hatf/ that run in a traced program.
ENCODER := $(call obj,$(addprefix hatf/,codec/*.c deflate/*.c rings/*.c recorder/*.c))
# Unit tests under TSan are those of what several threads touch.
UNIT  := $(call unit,$(if $(filter thread,$(SAN)),test_ring*.c \
	test_writer_thread*.c test_recorder*.c test_input*.c,test_*.c))
FUZZ  := $(patsubst %.c,$B/%,$(wildcard tests/fuzz/fuzz_*.c))
PROGRAMS := $(patsubst %.c,$B/%,$(wildcard tests/capture/programs/*.c tests/faults/programs/*.c)) \
	$(patsubst %.cc,$B/%,$(wildcard tests/capture/programs/*.cc))
BENCHES := $(patsubst %.c,$B/%,$(wildcard tests/bench/*.c))
MAN   := $(wildcard tools/man/*.[1-9])
HEADERS := $(wildcard hatf/hatf*.h) preload/hatftrace.h
SOURCES := $(filter-out tests/data/%,$(call below,hatf preload tools tests,*.[ch]))

all: $(LIB) $B/libhatf.so $(SO) $(CMD) ## build everything that is installed

# Rewritten only when what it holds changed; every object depends on .flags.
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
# Here the stack protector is for text only: what each event goes through bears
# no more.
$B/obj/preload/%.o: private HARDEN := $(HARDEN:%-strong=%)
$(ENCODER): private HARDEN := $(HARDEN:%-strong=%)
# Small variables next to each other, and not one on each page between large
# ones.
$B/obj/preload/%.o: private FLAGS += -fdata-sections
$(ENCODER): private FLAGS += -fdata-sections
$B/obj/preload/interpose/interpose_thread.o: private FLAGS += -fno-exceptions
# What the writer thread does for each event.  The recorder takes as little of
# libc as it can: not the functions that check, either.
$(filter-out $B/obj/hatf/recorder/%,$(ENCODER)): private OPTIMIZE := -O3
$(ENCODER): private FORTIFY :=
$B/obj/tools/commands/record.o: private FLAGS += -DLIBDIR_STRING='"$(LIBDIR)"'
$B/obj/tools/commands/record.o: $B/.libdir

$(LIB): $(LIBHATF)
# What tests link of the other folders: not main(), nor the exported malloc().
PARTS := $B/libtools.a $B/libpreload.a
$B/libtools.a: $(filter-out %/commands/main.o,$(TOOLS))
$B/libpreload.a: $(filter-out $B/obj/preload/interpose/% %/raw_syscall.o, \
	$(PRELOAD))
$(LIB) $(PARTS) $B/libfuzz.a:
	$(call say,AR)
	$Qrm -f $@ && $(AR) rcs $@ $^

$(DSO): $(LIBHATF) hatf/libhatf.map
	$(call say,LINK)
	$Q$(CC) -shared $(FLAGS) -Wl,-soname,libhatf.so.0 -Wl,-z,defs $(HARDEN_LINK) \
		-Wl,--version-script=hatf/libhatf.map -Wl,--exclude-libs,ALL \
		$(LDFLAGS) -o $@ $(filter %.o,$^) $(HATF_LIBS) -lpthread

$B/libhatf.so: $(DSO)
	$Qln -sf $(<F) $@

$(SO): $(PRELOAD) $(ENCODER) preload/exports.map \
		scripts/hide-symbols.sh
	$(call say,LINK)
	$Q$(CC) -shared $(FLAGS) -Wl,-z,defs,-z,nodelete $(HARDEN_LINK) $(SMALL_LINK) \
		-Wl,--version-script=preload/exports.map \
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

# What targets share, and who calls them: a fuzzer, or the files of a corpus.
$B/libfuzz.a: $(filter-out $B/obj/tests/fuzz/fuzz_% %/replay.o, \
	$(call obj,tests/fuzz/*.c))
ENGINE := $(if $(findstring fuzzer,$(SAN))$(findstring afl,$(CC)),,replay)
$(FUZZ): $B/libfuzz.a $(ENGINE:%=$B/obj/tests/fuzz/%.o)
$(FUZZ): LIBS := $(LIB) $(LIBS) $(if $(ENGINE),,-fsanitize=fuzzer)

$B/tests/capture/programs/%: tests/capture/programs/%.c $B/.flags
	$(call program,CC,$(CC) -std=gnu11,$(CFLAGS))
$B/tests/faults/programs/%: tests/faults/programs/%.c $B/.flags
	$(call program,CC,$(CC) -std=gnu11,$(CFLAGS))
$B/tests/capture/programs/%: tests/capture/programs/%.cc $B/.flags
	$(call program,CXX,$(CXX) -std=gnu++17,$(CXXFLAGS))

tests: all $(UNIT) $(FUZZ) $(PROGRAMS) ## build the programs that the tests run
unit: $(UNIT) $(FUZZ) ## build and run the unit tests, replay the fuzz corpora
	$Qscripts/run-tests.sh -b $B $(UNIT) $(FUZZ)

# Each fuzzer for FUZZ_SECONDS, in a build of its own with ASan and UBSan.
fuzz-programs: $(FUZZ)
fuzz: ## look for inputs that break the library: libFuzzer
	$Qscripts/fuzz.sh libfuzzer
fuzz-afl: ## the same with AFL++
	$Qscripts/fuzz.sh afl

check: ## set the machine up, build, run every test
	$Qscripts/check.sh

demo: ## set the machine up, build, record and read a real program
	$Qscripts/demo.sh

check-san: ## unit tests: gcc and clang x ASan+UBSan, TSan
	$Qscripts/check-san.sh

bench-programs: all $(BENCHES)
bench: bench-programs ## speed of the library: tests/bench
	$Qfor t in $(filter-out %/lib.sh %/capture.sh,$(wildcard tests/bench/*.sh)); \
		do BUILD=$(CURDIR)/$B $$t || exit; done

bench-capture: ## cost of recording, beside two peers
	$Qscripts/setup.sh bench
	$Q$(MAKE) bench-programs
	$QBUILD=$(CURDIR)/$B tests/bench/capture.sh

lint: all ## layout, clang-tidy, shellcheck, includes, exported symbols
	$Qscripts/lint.sh '$(CPP_FLAGS) $(CPPFLAGS)' $(SOURCES)

format: ## put every source file into the house layout
	$Qclang-format -i $(SOURCES)

# ----------------------------------------------------------------- install
# $(call man_path,hatf.1) is man1/hatf.1.
man_path = man$(subst .,,$(suffix $1))/$(notdir $1)

install: all ## install under $(DESTDIR)$(PREFIX)
	install -d $(addprefix $(DESTDIR),$(BINDIR) $(LIBDIR)/pkgconfig $(INCDIR))
	install -m 755 $(CMD) $(DESTDIR)$(BINDIR)
	install -m 755 $(SO) $(DSO) $(DESTDIR)$(LIBDIR)
	ln -sf libhatf.so.0 $(DESTDIR)$(LIBDIR)/libhatf.so
	install -m 644 $(LIB) $(DESTDIR)$(LIBDIR)
	install -m 644 $(HEADERS) $(DESTDIR)$(INCDIR)
	install -D -m 644 hatf/hatf.dtd $(DESTDIR)$(DTDDIR)/hatf.dtd
	sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@VERSION@|$(VERSION)|' \
		-e 's|@LIBDIR@|$(LIBDIR:$(PREFIX)/%=$${prefix}/%)|' \
		-e 's|@INCDIR@|$(INCDIR:$(PREFIX)/%=$${prefix}/%)|' \
		-e 's|@LIBS_PRIVATE@|$(HATF_LIBS_PRIVATE)|' hatf/hatf.pc.in \
		> $(DESTDIR)$(LIBDIR)/pkgconfig/hatf.pc
	$(foreach m,$(MAN),install -D -m 644 $m \
		$(DESTDIR)$(MANDIR)/$(call man_path,$m) &&) true

uninstall: ## remove what install put there
	rm -f $(DESTDIR)$(BINDIR)/hatf $(DESTDIR)$(DTDDIR)/hatf.dtd \
		$(addprefix $(DESTDIR)$(INCDIR)/,$(notdir $(HEADERS))) \
		$(addprefix $(DESTDIR)$(LIBDIR)/,libhatftrace.so libhatf.so.0 \
		libhatf.so libhatf.a pkgconfig/hatf.pc) \
		$(foreach m,$(MAN),$(DESTDIR)$(MANDIR)/$(call man_path,$m))

clean: ## remove build/
	rm -rf build

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-14s %s\n", $$1, $$2 }' \
		$(firstword $(MAKEFILE_LIST))

-include $(shell find $B -name '*.d' 2>/dev/null)

FORCE:
.PHONY: all tests unit check demo check-san bench bench-programs bench-capture \
	fuzz fuzz-afl fuzz-programs lint format install uninstall clean help FORCE
.PRECIOUS: $B/obj/%.o
