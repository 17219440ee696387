/* SPDX-License-Identifier: MIT */
/* mtf_error.h - what is wrong with a Meta-TF trace, and where */
#ifndef HATF_MTF_ERROR_H
#define HATF_MTF_ERROR_H

#include <stdbool.h>
#include <stdint.h>

/* Stands for "no offset" or "no record". */
#define MTF_NOWHERE UINT64_MAX

struct mtf_error {
	bool has_failed;
	/*
	 * offset of the error in the file or, in a compressed section, in the
	 * decompressed data of the section; MTF_NOWHERE: no offset
	 */
	uint64_t offset;
	uint64_t record; /* number of data records before the error */
	char text[200];
};

/* Record an error, unless one has been recorded already.  Return false. */
bool mtf_fail(struct mtf_error *err, uint64_t offset, uint64_t record,
	      const char *format, ...) __attribute__((format(printf, 4, 5)));

#endif /* HATF_MTF_ERROR_H */
