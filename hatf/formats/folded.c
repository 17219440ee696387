/* SPDX-License-Identifier: MIT */
/*
 * folded.c - folded stacks: a call stack a line, and bytes (FORMAT "folded")
 *
 *	main;parse;malloc 8192
 *	thread 2;17 to 32 bytes 4096
 *
 * What flamegraph.pl, inferno and speedscope read: outermost first, with semicolons
 * between frames, and behind the last blank a number.  It is that of the bytes that
 * were allocated, of which there are no negative ones and which need no moment to be
 * chosen.
 */
#include "profile.h"
#include "textio.h"

#include <stdlib.h>

static void
put_name(struct outfile *o, const char *name)
{
	const size_t nbytes = strlen(name);
	uint8_t *const start = outfile_room(o, nbytes);

	for (size_t i = 0; i < nbytes; i++) {
		const uint8_t c = (uint8_t)name[i];

		start[i] = c == ';' ? ':' : c < ' ' || c == 0x7f ? '_' : c;
	}
	outfile_advance(o, nbytes);
}

static bool
put_site(struct sink *s, const struct profile_site *site)
{
	struct profile *const p = s->ctx;
	char buf[PROFILE_NAME_MAX];
	size_t count;
	uint64_t *const places = profile_stack(p, site, &count);
	uint8_t *start, *end;

	if (places == NULL)
		return false;
	for (size_t i = count; i-- > 0;) {
		put_name(&s->out, profile_name(p, &p->entries[places[i]], buf));
		outfile_bytes(&s->out, i != 0 ? ";" : " ", 1);
	}
	free(places);
	start = outfile_room(&s->out, TEXTIO_NUMBER_MAX + 1);
	end = textio_put_u64(start, site->total.nbytes);
	*end++ = '\n';
	outfile_advance(&s->out, (size_t)(end - start));
	return true;
}

static enum hatf_status
finish(struct sink *s)
{
	struct profile *const p = s->ctx;

	profile_end(p);
	for (size_t i = 0; i < p->site_count; i++)
		if (p->sites[i].total.nbytes != 0 && !put_site(s, &p->sites[i]))
			return sink_fail(s, HATF_NO_MEMORY, NULL);
	return HATF_OK;
}

static enum hatf_status
write_records(struct sink *s, const struct hatf_record *records, size_t n)
{
	return profile_write(s->ctx, s, records, n);
}

static enum hatf_status
open_sink(struct sink *s)
{
	struct profile *const p = malloc(sizeof(*p));
	enum hatf_status status;

	if (p == NULL)
		return sink_fail(s, HATF_NO_MEMORY, NULL);
	s->ctx = p;
	status = profile_init(p, s, false, false);
	return status == HATF_OK ? HATF_OK : sink_fail(s, status, NULL);
}

static void
close_sink(struct sink *s)
{
	if (s->ctx != NULL)
		profile_fini(s->ctx);
	free(s->ctx);
}

const struct sink_ops folded_sink = {
	.open = open_sink,
	.write = write_records,
	.finish = finish,
	.close = close_sink,
};
