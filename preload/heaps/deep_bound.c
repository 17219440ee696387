/* SPDX-License-Identifier: MIT */
/*
 * deep_bound.c - see deep_bound.h
 *
 * The loader does not record which objects were loaded with RTLD_DEEPBIND.  If
 * the loader has already bound a slot (patch_calls.h), the slot's value shows
 * whether calls through the slot reach us.  If the loader binds the slot only
 * at the first call, the value does not show this yet.  In this case, store our
 * function in the slot if two conditions hold:
 *
 * - Besides the recorder, exactly one object, such as libc, defines a function
 *   of the slot's name.
 * - Our function of this name calls the allocator in that object.
 *
 * The loader would bind the slot to one of these two functions, and both end in
 * the same allocator.  Otherwise leave the slot as it is.
 */

#include "preload/heaps/deep_bound.h"

#include <elf.h>
#include <link.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "preload/heaps/heap_calls.h"
#include "preload/heaps/patch_calls.h"
#include "preload/record/missed_calls.h"
#include "preload/record/real.h"
#include "preload/sys/elf_lookup.h"

/*
 * Size of the cache 'names' in struct pass, about the number of names that we
 * export.  If the cache is full, find_all() does not cache further names.
 */
#define NAMES_MAX 96u

/* The definitions that this pass has found for a name. */
struct name {
	void *ours;
	struct elf_lookup_all all;
};

struct pass {
	bool in_time;
	const struct known_objects *known;
	size_t visited; /* number of objects visited so far */
	size_t name_count;
	struct name names[NAMES_MAX];
};

/*
 * Does the function 'target', whose name is 'name', itself allocate or free?
 * An operator new or delete does so if it belongs to an allocator, that is, if
 * the object of the operator also defines malloc().  The operators of a C++
 * library only call malloc() and free().
 */
static bool
is_allocation(const char *name, const void *target)
{
	/*
	 * The only C++ names that the recorder exports are those of operators.
	 */
	return heap_calls_has(name) || (strncmp(name, "_Z", 2) == 0 &&
					elf_lookup_beside(target, "malloc"));
}

/*
 * Return true if a call of our function 'name' ends in the allocator of
 * 'target', or if 'target' does not allocate.  Our functions call the allocator
 * that contains 'real_allocator'.  If our functions got a block of another
 * allocator, they would damage the program.
 */
static bool
leads_to(const char *name, const void *target)
{
	return !is_allocation(name, target) ||
	       elf_lookup_object(target) == elf_lookup_object(real_allocator);
}

static struct elf_lookup_all
find_all(struct pass *pass, const char *name, void *ours)
{
	struct elf_lookup_all all;

	for (size_t i = 0; i < pass->name_count; i++)
		if (pass->names[i].ours == ours)
			return pass->names[i].all;
	all = elf_lookup_all(name);
	if (pass->name_count < NAMES_MAX)
		pass->names[pass->name_count++] = (struct name){ ours, all };
	return all;
}

/* Is the function at 'address' in the program itself, not in a library? */
static bool
is_in_program(const void *address)
{
	const char *const name = elf_lookup_object(address);

	return name != NULL && name[0] == '\0';
}

/*
 * If 'target' allocates or frees, report by missed_calls_note() that calls of
 * 'target' through the slot bypass the recorder.  'is_followed' means that the
 * slot now holds our function, so only earlier calls may have bypassed the
 * recorder.  If 'pass->in_time' is also set, there were no earlier calls, so
 * report nothing.
 */
static void
note(const struct pass *pass, const struct patch_slot *slot, const void *target,
     bool is_followed)
{
	if ((is_followed && pass->in_time) ||
	    !is_allocation(slot->name, target))
		return;
	missed_calls_note(
		slot->info->dlpi_name,
		is_followed
			? " may have called the allocator before the "
			  "recorder detected this object"
			: " calls another allocator, bypassing the recorder");
}

/*
 * Follow a slot that points into its own object.  Either the object calls a
 * function of its own, or the slot is unbound.  Patch an unbound slot only if
 * exactly one other object defines the name, as the top of this file explains.
 */
static void
follow_unbound(struct pass *pass, const struct patch_slot *slot, void *ours)
{
	struct elf_lookup_all all;

	if (!patch_is_unbound(slot) ||
	    elf_lookup_defines(slot->dynamic, slot->name))
		return;
	all = find_all(pass, slot->name, ours);
	/*
	 * If the only other definition is not in the allocator that our
	 * functions call, leave the slot unbound and report nothing: only the
	 * loader knows whether the object's calls will bypass us.
	 */
	if (all.count == 1 && leads_to(slot->name, all.first))
		patch_write(slot, ours);
}

static void
follow_slot(const struct patch_slot *slot, void *context)
{
	struct pass *const pass = context;
	void *const now = *slot->at;
	void *const ours = now != NULL ? elf_lookup_own(slot->name) : NULL;
	struct elf_lookup_all all;
	bool is_sole;

	if (ours == NULL || now == ours)
		return;
	if (elf_dynamic_has(slot->info, PT_LOAD, (uintptr_t)now)) {
		follow_unbound(pass, slot, ours);
		return;
	}
	all = find_all(pass, slot->name, ours);
	is_sole = now == all.next && all.first == all.next;
	if (is_sole && leads_to(slot->name, now)) {
		const bool done = patch_write(slot, ours);

		note(pass, slot, now, done);
	} else if ((is_sole || now != all.first) &&
		   elf_lookup_object(now) != NULL && !is_in_program(now)) {
		note(pass, slot, now, false);
	}
}

static int
visit(struct dl_phdr_info *info, size_t nbytes, void *context)
{
	struct pass *const pass = context;
	const size_t index = pass->visited++;
	struct dynamic dynamic;

	(void)nbytes;
	if (known_objects_have(pass->known, info, index))
		return 0;
	if (!elf_dynamic_has(info, PT_LOAD, (uintptr_t)&deep_bound_patch) &&
	    elf_dynamic_read(info, &dynamic))
		patch_each_slot(info, &dynamic, follow_slot, pass);
	return 0;
}

void
deep_bound_patch(bool in_time, const struct known_objects *known)
{
	struct pass pass = { .in_time = in_time, .known = known };

	dl_iterate_phdr(visit, &pass);
}
