/* SPDX-License-Identifier: MIT */
/* mtf_writer_finish.c - put the sections together into one file */
#include "hatf/metatf/trace/mtf_writer.h"

#include "hatf/metatf/trace/byte_sink.h"
#include "hatf/metatf/trace/mtf_header.h"
#include "hatf/metatf/trace/mtf_writer_state.h"

#include <errno.h>
#include <string.h>

/* The header and the DTD's section, which mtf_writer_finish() makes. */
struct assembly {
	struct mtf_header header;
	struct byte_sink dtd;
	bool has_dtd;
};

/* If w->options has the text of a DTD, put this text into a->dtd. */
static bool
make_dtd(struct mtf_writer *w, struct assembly *a)
{
	if (w->options.dtd_text == NULL)
		return true;
	if (!byte_sink_init(&a->dtd, w->options.is_compressed,
			    w->options.level))
		return mtf_writer_fail_io(w, errno);
	a->has_dtd = true;
	byte_sink_put(&a->dtd, (const uint8_t *)w->options.dtd_text,
		      w->options.dtd_nbytes);
	return byte_sink_finish(&a->dtd) ||
	       mtf_writer_fail_io(w, a->dtd.sys_errno);
}

/*
 * Add an entry for a section of 'nbytes' bytes that starts at '*offset', and
 * set '*offset' to the end of the section.
 */
static void
add_entry(struct mtf_header *h, unsigned number, uint64_t *offset,
	  uint64_t nbytes)
{
	h->sections[h->section_count++] = (struct mtf_section_entry){
		.number = number,
		.start = *offset,
		.nbytes = nbytes,
	};
	*offset += nbytes;
}

/*
 * Make the header; compute the offset of each section.  Return false if the
 * trace is too long for class 1.
 */
static bool
make_header(struct mtf_writer *w, struct assembly *a)
{
	struct mtf_header *const h = &a->header;
	const uint32_t section_nbytes = w->schema->tag_width + 1;
	uint64_t offset;

	*h = (struct mtf_header){
		.class = w->options.class,
		.byte_order = w->options.byte_order,
		.is_compressed = w->options.is_compressed,
		.record_count = w->record_count,
	};
	strncpy(h->dtd_name, w->options.dtd_name, sizeof(h->dtd_name) - 1);
	for (uint32_t i = 1; i < w->schema->section_count; i++)
		h->section_count += w->parts[i].is_open;
	h->section_count += a->has_dtd;
	offset = mtf_header_nbytes(h);
	h->section_count = 0;
	if (a->has_dtd)
		add_entry(h, MTF_DTD_SECTION, &offset, a->dtd.nbytes);
	h->start = offset;
	if (w->parts[0].is_open)
		offset += w->parts[0].sink.nbytes;
	for (uint32_t i = 1; i < w->schema->section_count; i++) {
		if (!w->parts[i].is_open)
			continue;
		offset += section_nbytes;
		add_entry(h, w->schema->sections[i].number, &offset,
			  w->parts[i].sink.nbytes);
	}
	return h->class == MTF_64_BIT || offset <= UINT32_MAX ||
	       mtf_fail(&w->err, MTF_NOWHERE, MTF_NOWHERE,
			"the trace exceeds 4 GiB, the limit of class 1");
}

/*
 * If the part at index 'idx' is open, write its bytes to the file.  First write
 * the section record that announces the part; the global section, at index 0,
 * has no such record.  Return 0 or an errno.
 */
static int
write_part(struct mtf_writer *w, uint32_t idx)
{
	const struct schema_record *const section =
		mtf_writer_predefined(&w->schema->sections[0], ROLE_SECTION);
	uint8_t bytes[8];
	int sys_errno = 0;

	if (!w->parts[idx].is_open)
		return 0;
	if (idx != 0) {
		mtf_put(bytes, w->schema->tag_width, w->options.byte_order,
			section->tag);
		bytes[w->schema->tag_width] = w->schema->sections[idx].number;
		sys_errno =
			byte_sink_write(w->fd, bytes, w->schema->tag_width + 1);
	}
	return sys_errno != 0 ? sys_errno
			      : byte_sink_copy(&w->parts[idx].sink, w->fd);
}

static bool
write_all(struct mtf_writer *w, struct assembly *a)
{
	uint8_t bytes[MTF_HEADER_MAX_NBYTES];
	int sys_errno = byte_sink_write(w->fd, bytes,
					mtf_header_write(&a->header, bytes));

	if (sys_errno == 0 && a->has_dtd)
		sys_errno = byte_sink_copy(&a->dtd, w->fd);
	for (uint32_t i = 0; sys_errno == 0 && i < w->schema->section_count;
	     i++)
		sys_errno = write_part(w, i);
	return sys_errno == 0 || mtf_writer_fail_io(w, sys_errno);
}

bool
mtf_writer_finish(struct mtf_writer *w)
{
	struct assembly a = { 0 };
	bool ok = !w->err.has_failed && make_dtd(w, &a);

	for (uint32_t i = 0; ok && i < w->schema->section_count; i++)
		if (w->parts[i].is_open && !byte_sink_finish(&w->parts[i].sink))
			ok = mtf_writer_fail_io(w, w->parts[i].sink.sys_errno);
	ok = ok && make_header(w, &a) && write_all(w, &a);
	if (a.has_dtd)
		byte_sink_fini(&a.dtd);
	return ok;
}
