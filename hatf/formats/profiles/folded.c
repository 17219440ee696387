/* SPDX-License-Identifier: MIT */
/*
 * folded.c - folded stacks: one call stack and its bytes per line (FORMATS
 * "folded")
 *
 * 	main;parse;malloc 8192
 * 	thread 2;17 to 32 bytes 4096
 *
 * flamegraph.pl, inferno and speedscope read these files.  A line has frames,
 * outermost first, with semicolons between them, and a number after the last
 * blank.  The number is the sum of the bytes that the stack allocated in the
 * whole trace.  Unlike the sum of live bytes, this sum does not depend on a
 * point in time.
 */
#include "hatf/containers/rows.h"
#include "hatf/containers/string_table.h"
#include "hatf/formats/common/textio.h"
#include "hatf/formats/profiles/profile.h"

#include <stdlib.h>

/*
 * Maximum number of bytes of names that the sink writes.  There is a limit,
 * because a small trace can have many stacks that repeat the same few names.
 */
#define TEXT_MAX ((uint64_t)1 << 30)

/*
 * The sums by stack.  Stacks with the same text share one sum, even if their
 * source lines and addresses differ.
 */
struct folded {
	struct profile profile;
	struct string_table texts; /* texts of the profile's entries */
	/*
	 * Each stack is an array of numbers in 'texts', outermost frame first.
	 */
	struct string_table stacks;
	/* rows of uint64_t: bytes allocated by stack number n, in row n - 1 */
	struct rows nbytes;
	/* rows of uint32_t: numbers in 'texts'; scratch memory of add_site() */
	struct rows numbers;
	/* number of bytes of names written so far; at most TEXT_MAX */
	uint64_t nbytes_written;
};

/*
 * Add the name of entry 'idx' of the profile to 'texts', but replace semicolons
 * and control characters.  Store the number of the text in '*number_ret'.
 */
static enum hatf_status
text_of(struct folded *f, uint64_t idx, uint32_t *number_ret)
{
	char buf[PROFILE_NAME_MAX];

	profile_name(&f->profile, &f->profile.entries[idx], buf);
	for (char *c = buf; *c != '\0'; c++)
		if (*c == ';')
			*c = ':';
		else if ((uint8_t)*c < ' ' || *c == 0x7f)
			*c = '_';
	return string_table_put(&f->texts, buf, strlen(buf), number_ret);
}

/*
 * Add the names of the entries of a site's stack to 'texts', and store the
 * numbers of these texts in 'numbers', outermost first.
 */
static enum hatf_status
gather_texts(struct folded *f, const struct profile_site *site)
{
	uint64_t *indices;
	size_t count;
	enum hatf_status status =
		profile_stack(&f->profile, site, &indices, &count);

	if (status != HATF_OK)
		return status;
	f->numbers.count = 0;
	while (count-- > 0 && status == HATF_OK) {
		uint32_t *const number = rows_add(&f->numbers, sizeof(*number));

		status = number == NULL ? HATF_NO_MEMORY
					: text_of(f, indices[count], number);
	}
	free(indices);
	return status;
}

static enum hatf_status
add_site(struct folded *f, const struct profile_site *site)
{
	const uint32_t before = f->stacks.count;
	enum hatf_status status = gather_texts(f, site);
	uint64_t *nbytes;
	uint32_t number;

	if (status == HATF_OK)
		status = string_table_put(&f->stacks, f->numbers.rows,
					  f->numbers.count * sizeof(uint32_t),
					  &number);
	if (status != HATF_OK)
		return status;
	if (f->stacks.count != before) {
		nbytes = rows_add(&f->nbytes, sizeof(*nbytes));
		if (nbytes == NULL)
			return HATF_NO_MEMORY;
		*nbytes = 0;
	}
	nbytes = f->nbytes.rows;
	nbytes[number - 1] += site->total.nbytes;
	return HATF_OK;
}

/*
 * Write the line of stack 'number'.  Return false if the names in all lines
 * would take more than TEXT_MAX bytes.
 */
static bool
put_stack(struct sink *s, uint32_t number)
{
	struct folded *const f = s->ctx;
	const uint64_t *const nbytes = f->nbytes.rows;
	const struct string_table_row *const stack =
		&f->stacks.rows[number - 1];
	uint8_t *start, *end;

	for (uint32_t i = 0; i < stack->nbytes; i += sizeof(uint32_t)) {
		uint32_t text;

		memcpy(&text, stack->bytes + i, sizeof(text));
		f->nbytes_written += f->texts.rows[text - 1].nbytes + 1;
		if (f->nbytes_written > TEXT_MAX)
			return false;
		if (i != 0)
			outfile_bytes(&s->out, ";", 1);
		outfile_bytes(&s->out, string_table_get(&f->texts, text),
			      f->texts.rows[text - 1].nbytes);
	}
	start = outfile_room(&s->out, TEXTIO_NUMBER_MAX + 2);
	*start = ' ';
	end = textio_put_u64(start + 1, nbytes[number - 1]);
	*end++ = '\n';
	outfile_advance(&s->out, (size_t)(end - start));
	return true;
}

static enum hatf_status
finish(struct sink *s)
{
	struct folded *const f = s->ctx;
	struct profile *const p = &f->profile;

	profile_end(p);
	for (size_t i = 0; i < p->site_count; i++) {
		enum hatf_status status = HATF_OK;

		if (p->sites[i].total.nbytes != 0)
			status = add_site(f, &p->sites[i]);
		if (status != HATF_OK)
			return sink_fail(s, status, "stack");
	}
	for (uint32_t number = 1; number <= f->stacks.count; number++)
		if (!put_stack(s, number))
			return sink_fail(s, HATF_LIMIT, "stack");
	return HATF_OK;
}

static enum hatf_status
write_records(struct sink *s, const struct hatf_record *records, size_t n)
{
	struct folded *const f = s->ctx;

	return profile_write(&f->profile, s, records, n);
}

static enum hatf_status
open_sink(struct sink *s)
{
	struct folded *const f = calloc(1, sizeof(*f));
	enum hatf_status status;

	if (f == NULL)
		return sink_fail(s, HATF_NO_MEMORY, NULL);
	s->ctx = f;
	string_table_init(&f->texts, UINT32_MAX, UINT64_MAX);
	string_table_init(&f->stacks, UINT32_MAX, UINT64_MAX);
	status = profile_init(&f->profile, s, false, false);
	return status == HATF_OK ? HATF_OK : sink_fail(s, status, NULL);
}

static void
close_sink(struct sink *s)
{
	struct folded *const f = s->ctx;

	if (f == NULL)
		return;
	profile_fini(&f->profile);
	string_table_fini(&f->texts);
	string_table_fini(&f->stacks);
	free(f->nbytes.rows);
	free(f->numbers.rows);
	free(f);
}

const struct sink_ops folded_sink = {
	.open = open_sink,
	.write = write_records,
	.finish = finish,
	.close = close_sink,
};
