/* SPDX-License-Identifier: MIT */
/*
 * open.h - read a trace that is in memory to its end
 */
#ifndef TESTS_OPEN_H
#define TESTS_OPEN_H

#include "hatf/hatf.h"
#include "tests/unit/support/hand.h"
#include "tests/unit/support/streams.h"

/* Open a reader over a file with the bytes of 'h'; the caller closes both. */
static inline struct hatf_reader *
open_bytes(const struct hand *h, unsigned flags, int *fd_ret)
{
	struct hatf_reader *reader;
	struct hatf_error err;

	*fd_ret = hand_file(h->bytes, h->used);
	ck_assert_int_eq(reader_of_fd(*fd_ret, flags, &reader, &err), HATF_OK);
	ck_assert_int_eq(err.status, HATF_OK);
	return reader;
}

/* Read to the end; return the final status and the number of records. */
static inline enum hatf_status
drain(struct hatf_reader *reader, size_t *n_ret)
{
	struct hatf_record records[256];
	enum hatf_status status;
	size_t n;

	*n_ret = 0;
	while ((status = hatf_reader_read(reader, records, 256, &n)) ==
	       HATF_OK) {
		ck_assert_uint_gt(n, 0);
		*n_ret += n;
	}
	ck_assert_uint_eq(n, 0);
	for (int i = 0; i < 3; i++) {
		ck_assert_int_eq(hatf_reader_read(reader, records, 256, &n),
				 status);
		ck_assert_uint_eq(n, 0);
	}
	return status;
}

#endif /* TESTS_OPEN_H */
