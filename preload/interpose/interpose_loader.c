/* SPDX-License-Identifier: MIT */
/*
 * interpose_loader.c - dl_iterate_phdr(3)
 *
 * The run-time library of AddressSanitizer must be loaded before all other
 * libraries.  If it finds by dl_iterate_phdr() that another library comes
 * first, it ends the program.  In a program with that run-time library, our
 * dl_iterate_phdr() therefore leaves our library out, unless we are the caller.
 */

#include <link.h>
#include <stddef.h>
#include <stdint.h>

#include "preload/process/sanitizer.h"
#include "preload/record/real.h"
#include "preload/sys/elf_dynamic.h"
#include "preload/sys/export.h"

typedef int visit_fn(struct dl_phdr_info *info, size_t nbytes, void *context);

struct visitor {
	visit_fn *visit;
	void *context;
};

/* Start and end of our own library; the linker defines both. */
extern const char own_start[] __asm__("__ehdr_start")
	__attribute__((visibility("hidden")));
extern const char own_end[] __asm__("_end")
	__attribute__((visibility("hidden")));

static int
visit_others(struct dl_phdr_info *info, size_t nbytes, void *context)
{
	const struct visitor *const h = context;

	return elf_dynamic_has(info, PT_LOAD, (uintptr_t)own_start)
		       ? 0
		       : h->visit(info, nbytes, h->context);
}

/*
 * Another preloaded library may have a dl_iterate_phdr(), too, as fakechroot's
 * does.  'protected' means that the recorder's own calls nevertheless come
 * here: the other function may allocate, or may not expect calls at this time.
 */
__attribute__((visibility("protected"))) int
dl_iterate_phdr(visit_fn *fn, void *context)
{
	const char *const caller = __builtin_return_address(0);
	struct visitor h = { fn, context };

	real_resolve_others();
	if (!sanitizer_must_be_first() ||
	    (caller >= own_start && caller < own_end))
		return real.dl_iterate_phdr(fn, context);
	return real.dl_iterate_phdr(visit_others, &h);
}
