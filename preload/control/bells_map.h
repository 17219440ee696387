/* SPDX-License-Identifier: MIT */
/*
 * bells_map.h - map the file by which 'hatf ctl' calls processes that have no
 * socket (hatf/recorder/bells.h); make the file if there is none
 */
#ifndef BELLS_MAP_H
#define BELLS_MAP_H

#include <stdbool.h>
#include <stdint.h>

#include "hatf/recorder/bells.h"

/* A page of the file.  It contains the slots of some processes. */
struct bells_page {
	/* start of the page; NULL: nothing has been mapped so far */
	void *at;
	uint64_t off; /* offset of the page in the file */
	uint32_t uid; /* the user whose folder the file is in */
	/*
	 * Is the page mapped?  If not, 'at' is NULL or the address of a
	 * readable page of zeros.
	 */
	bool is_mapped;
};

/* Does the page have the slot of process 'number' of user 'uid'? */
bool bells_are_mapped(const struct bells_page *page, uint32_t uid,
		      uint64_t number);

/*
 * Map the page that contains the slot of process 'number'.  If '*page' was
 * mapped before, use the same address again.  The file is in 'directory', which
 * belongs to user 'uid' alone.  Make the file if there is none.  The mapping is
 * read-only.  If the page cannot be mapped, leave '*page' unchanged and return
 * false.
 */
bool bells_map(struct bells_page *page, const char *directory, uint32_t uid,
	       uint64_t number);

/*
 * Unmap the file.  The memory stays readable, because another thread may be
 * about to read it.
 */
void bells_unmap(struct bells_page *page);

/* Return the slot of process 'number', which must be in the page. */
const _Atomic uint64_t *bells_slot(const struct bells_page *page,
				   uint64_t number);

#endif /* BELLS_MAP_H */
