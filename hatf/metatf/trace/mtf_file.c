/* SPDX-License-Identifier: MIT */
/* mtf_file.c - the header and the DTD of a file, see mtf_reader.h */
#include "hatf/metatf/trace/byte_source.h"
#include "hatf/metatf/trace/mtf_reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool
mtf_read_header(int fd, struct mtf_header *h, struct mtf_error *err)
{
	uint8_t bytes[MTF_HEADER_MAX_NBYTES];
	struct stat st;
	ssize_t n;

	*err = (struct mtf_error){ 0 };
	if (fstat(fd, &st) != 0)
		return mtf_fail(err, MTF_NOWHERE, MTF_NOWHERE, "%s",
				strerror(errno));
	do
		n = pread(fd, bytes, sizeof(bytes), 0);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return mtf_fail(err, MTF_NOWHERE, MTF_NOWHERE, "%s",
				strerror(errno));
	return mtf_header_read(h, bytes, (size_t)n, (uint64_t)st.st_size, err);
}

char *
mtf_read_dtd(int fd, const struct mtf_header *h, size_t *nbytes_ret,
	     struct mtf_error *err)
{
	const struct mtf_section_entry *const entry =
		mtf_header_section(h, MTF_DTD_SECTION);
	struct byte_source s;
	uint8_t *text;

	*err = (struct mtf_error){ 0 };
	*nbytes_ret = 0;
	if (entry == NULL)
		return NULL;
	text = malloc(DTD_MAX_NBYTES + 1);
	if (text == NULL ||
	    !byte_source_init(&s, fd, entry->start, entry->nbytes,
			      h->is_compressed)) {
		free(text);
		mtf_fail(err, MTF_NOWHERE, MTF_NOWHERE, "no memory");
		return NULL;
	}
	/*
	 * Stop after DTD_MAX_NBYTES + 1 bytes: the parser refuses a text of
	 * this length.
	 */
	while (*nbytes_ret <= DTD_MAX_NBYTES &&
	       byte_source_copy(&s, text + *nbytes_ret, 1))
		++*nbytes_ret;
	if (s.has_failed) {
		mtf_fail(err, entry->start, MTF_NOWHERE, "DTD: %s",
			 s.failure != NULL ? s.failure : strerror(errno));
		free(text);
		text = NULL;
	}
	if (text != NULL && entry->is_cut) {
		mtf_fail(err, entry->start, MTF_NOWHERE,
			 "the file ends inside the DTD");
		free(text);
		text = NULL;
	}
	byte_source_fini(&s);
	return (char *)text;
}
