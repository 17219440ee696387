/* SPDX-License-Identifier: MIT */
/*
 * dhat.c - JSON for valgrind's viewer dh_view (FORMATS "Profiles")
 *
 * The sink writes version 2 of DHAT's file.  A site has its totals ("tb" bytes
 * in "tbk" blocks) and the sum of lifetimes ("tl").  It has its own peak ("mb",
 * "mbk"), and its live blocks at the global peak ("gb", "gbk") and at the end
 * ("eb", "ebk").  Its frames ("fs"), innermost first, are indices into a table
 * of texts.  The trace has no reads and writes of blocks, so "bkacc" is false.
 */
#include "hatf/formats/common/call_address.h"
#include "hatf/formats/common/textio.h"
#include "hatf/formats/profiles/profile.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* The longest text of a frame, in bytes: an address, two names and a line. */
#define FRAME_MAX (3 * PROFILE_NAME_MAX)

struct dhat {
	struct profile profile;
	/* unit of the trace's times; NULL: the trace has no times */
	const char *unit;
	uint64_t pid;
	char command[PROFILE_NAME_MAX];
};

static void
put_text(struct outfile *o, const char *text)
{
	outfile_bytes(o, text, strlen(text));
}

static void
put_u64(struct outfile *o, const char *before, uint64_t n)
{
	uint8_t *p;

	put_text(o, before);
	p = outfile_room(o, TEXTIO_NUMBER_MAX);
	outfile_advance(o, (size_t)(textio_put_u64(p, n) - p));
}

/* Write a JSON string.  Replace invalid UTF-8 and control characters by '?'. */
static void
put_string(struct outfile *o, const char *text)
{
	const uint8_t *s = (const uint8_t *)text;
	size_t left = strlen(text);

	outfile_bytes(o, "\"", 1);
	while (left != 0) {
		const size_t nbytes = textio_utf8(s, left);

		if (nbytes == 0 ||
		    textio_is_terminal_control(textio_code_point(s, nbytes))) {
			outfile_bytes(o, "?", 1);
		} else {
			if (*s == '"' || *s == '\\')
				outfile_bytes(o, "\\", 1);
			outfile_bytes(o, s, nbytes);
		}
		left -= nbytes == 0 ? 1 : nbytes;
		s += nbytes == 0 ? 1 : nbytes;
	}
	outfile_bytes(o, "\"", 1);
}

/* -------------------------------------------------------------- frame table */

/*
 * Write a frame as valgrind does: "0x109170: f (dh.c:2)", "0x48417B4: malloc
 * (in /lib/libc.so.6)".  The address is the address of the last byte of the
 * call instruction.  DHAT itself always writes an address, but the viewer does
 * not parse the text, so omit an unknown address.
 */
static void
put_frame(struct outfile *o, const struct hatf_frame *f)
{
	const char *const function = f->function != NULL ? f->function : "???";
	char text[FRAME_MAX];
	int used = 0;

	if (f->address != 0)
		used = snprintf(text, sizeof(text), "0x%" PRIX64 ": ",
				call_address_of(f->address));
	if (f->file != NULL && f->line == 0)
		snprintf(text + used, sizeof(text) - (size_t)used, "%s (%s)",
			 function, f->file);
	else if (f->file != NULL)
		snprintf(text + used, sizeof(text) - (size_t)used,
			 "%s (%s:%" PRIu64 ")", function, f->file, f->line);
	else if (f->object != NULL)
		snprintf(text + used, sizeof(text) - (size_t)used, "%s (in %s)",
			 function, f->object);
	else
		snprintf(text + used, sizeof(text) - (size_t)used, "%s",
			 function);
	put_string(o, text);
}

static void
put_entries(struct sink *s)
{
	const struct dhat *const d = s->ctx;
	const struct profile *const p = &d->profile;
	char buf[PROFILE_NAME_MAX];

	put_text(&s->out, ",\"ftbl\":\n [\"[root]\"\n");
	for (size_t i = 0; i < p->entry_count; i++) {
		const struct profile_entry *const e = &p->entries[i];
		const struct hatf_frame frame = profile_frame(p, e);

		put_text(&s->out, " ,");
		if (e->kind == PROFILE_FRAME)
			put_frame(&s->out, &frame);
		else
			put_string(&s->out, profile_name(p, e, buf));
		put_text(&s->out, "\n");
	}
	put_text(&s->out, " ]\n}\n");
}

/* -------------------------------------------------------------------- sites */

/* Write a stack as indices into the frame table, whose entry 0 is "[root]". */
static enum hatf_status
put_stack(struct sink *s, const struct profile_site *site)
{
	struct dhat *const d = s->ctx;
	uint64_t *indices;
	size_t count;
	const enum hatf_status status =
		profile_stack(&d->profile, site, &indices, &count);

	if (status != HATF_OK)
		return status;
	for (size_t i = 0; i < count; i++)
		put_u64(&s->out, i == 0 ? "" : ",", indices[i] + 1);
	free(indices);
	return HATF_OK;
}

static enum hatf_status
put_site(struct sink *s, const struct profile_site *site)
{
	struct outfile *const o = &s->out;
	enum hatf_status status;

	put_u64(o, "{\"tb\":", site->total.nbytes);
	put_u64(o, ",\"tbk\":", site->total.count);
	put_u64(o, "\n  ,\"tl\":", site->lifetimes);
	put_u64(o, "\n  ,\"mb\":", site->own_peak.nbytes);
	put_u64(o, ",\"mbk\":", site->own_peak.count);
	put_u64(o, "\n  ,\"gb\":", site->at_peak.nbytes);
	put_u64(o, ",\"gbk\":", site->at_peak.count);
	put_u64(o, "\n  ,\"eb\":", site->live.nbytes);
	put_u64(o, ",\"ebk\":", site->live.count);
	put_text(o, "\n  ,\"fs\":[");
	status = put_stack(s, site);
	put_text(o, "]\n  }\n");
	return status;
}

/* Write the names of the unit of time, and of a million units. */
static void
put_units(struct sink *s)
{
	const struct dhat *const d = s->ctx;
	const char *const unit = d->unit;

	put_text(&s->out, ",\"tu\":");
	put_string(&s->out, unit == NULL ? "calls" : unit);
	put_text(&s->out, ",\"Mtu\":");
	put_string(&s->out, unit == NULL	      ? "Mcall"
			    : strcmp(unit, "ns") == 0 ? "ms"
						      : "s");
	/*
	 * Write the threshold ("tuth") below which the viewer marks a lifetime
	 * as short.
	 */
	put_text(&s->out,
		 unit == NULL ? "\n,\"tuth\":10\n" : "\n,\"tuth\":500\n");
}

static enum hatf_status
finish(struct sink *s)
{
	struct dhat *const d = s->ctx;
	struct profile *const p = &d->profile;
	enum hatf_status status;

	profile_end(p);
	put_text(&s->out, "{\"dhatFileVersion\":2\n"
			  ",\"mode\":\"heap\",\"verb\":\"Allocated\"\n"
			  ",\"bklt\":true,\"bkacc\":false\n");
	put_units(s);
	put_text(&s->out, ",\"cmd\":");
	put_string(&s->out, d->command);
	put_u64(&s->out, "\n,\"pid\":", d->pid);
	/* Write an end time of at least 1, because the viewer divides by it. */
	put_u64(&s->out, "\n,\"te\":", p->now != 0 ? p->now : 1);
	put_u64(&s->out, "\n,\"tg\":", p->peak_time);
	put_text(&s->out, "\n,\"pps\":\n [");
	for (size_t i = 0; i < p->site_count; i++) {
		if (i != 0)
			put_text(&s->out, " ,");
		status = put_site(s, &p->sites[i]);
		if (status != HATF_OK)
			return sink_fail(s, status, "stack");
	}
	put_text(&s->out, " ]\n");
	put_entries(s);
	return HATF_OK;
}

static enum hatf_status
write_records(struct sink *s, const struct hatf_record *records, size_t n)
{
	struct dhat *const d = s->ctx;

	return profile_write(&d->profile, s, records, n);
}

static enum hatf_status
open_sink(struct sink *s)
{
	const char *const lines = s->options.header;
	struct dhat *const d = calloc(1, sizeof(*d));
	enum hatf_status status;

	if (d == NULL)
		return sink_fail(s, HATF_NO_MEMORY, NULL);
	s->ctx = d;
	d->unit = profile_unit(s);
	if (lines != NULL) {
		text_find(lines, strlen(lines), "command", d->command,
			  sizeof(d->command));
		text_find_u64(lines, strlen(lines), "pid", &d->pid);
	}
	d->command[sizeof(d->command) - 1] = '\0';
	status = profile_init(&d->profile, s, d->unit != NULL, true);
	return status == HATF_OK ? HATF_OK : sink_fail(s, status, NULL);
}

static void
close_sink(struct sink *s)
{
	struct dhat *const d = s->ctx;

	if (d == NULL)
		return;
	profile_fini(&d->profile);
	free(d);
}

const struct sink_ops dhat_sink = {
	.open = open_sink,
	.write = write_records,
	.finish = finish,
	.close = close_sink,
};
