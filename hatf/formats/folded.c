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
#include "names.h"
#include "profile.h"
#include "textio.h"

#include <stdlib.h>

/* Stacks that read alike are one, whatever lines and addresses they have. */
struct folded {
	struct profile profile;
	struct names texts; /* of frames */
	struct names
		stacks;	  /* of these as numbers, outermost first, as bytes */
	uint64_t *nbytes; /* of the stacks, number n at n - 1 */
	size_t cap;
	uint32_t *numbers; /* reused */
	size_t number_cap;
};

/* Room for the numbers of a stack, or the sums of all; false if there is no memory. */
static bool
make_room(void **rows, size_t *cap, size_t count, size_t row_nbytes)
{
	void *grown;

	if (count <= *cap)
		return true;
	grown = reallocarray(*rows, 2 * count, row_nbytes);
	if (grown == NULL)
		return false;
	*rows = grown;
	*cap = 2 * count;
	return true;
}

/* The text of an entry, without what means something in the file. */
static enum hatf_status
text_of(struct folded *f, uint64_t place, uint32_t *number_ret)
{
	char buf[PROFILE_NAME_MAX];

	profile_name(&f->profile, &f->profile.entries[place], buf);
	for (char *c = buf; *c != '\0'; c++)
		if (*c == ';')
			*c = ':';
		else if ((uint8_t)*c < ' ' || *c == 0x7f)
			*c = '_';
	return names_put(&f->texts, buf, strlen(buf), number_ret);
}

/* The stack of a site in texts, as a number in 'stacks'. */
static enum hatf_status
stack_of(struct folded *f, const struct profile_site *site,
	 uint32_t *number_ret)
{
	enum hatf_status status = HATF_OK;
	size_t count;
	uint64_t *const places = profile_stack(&f->profile, site, &count);
	void *numbers = f->numbers;

	if (places == NULL)
		return HATF_NO_MEMORY;
	if (!make_room(&numbers, &f->number_cap, count, sizeof(*f->numbers)))
		status = HATF_NO_MEMORY;
	f->numbers = numbers;
	for (size_t i = 0; i < count && status == HATF_OK; i++)
		status = text_of(f, places[i], &f->numbers[count - 1 - i]);
	free(places);
	return status != HATF_OK
		       ? status
		       : names_put(&f->stacks, f->numbers,
				   count * sizeof(*f->numbers), number_ret);
}

static enum hatf_status
add_site(struct folded *f, const struct profile_site *site)
{
	const uint32_t before = f->stacks.count;
	uint32_t number;
	enum hatf_status status = stack_of(f, site, &number);
	void *nbytes = f->nbytes;

	if (status != HATF_OK)
		return status;
	if (!make_room(&nbytes, &f->cap, number, sizeof(*f->nbytes)))
		status = HATF_NO_MEMORY;
	f->nbytes = nbytes;
	if (status != HATF_OK)
		return status;
	if (f->stacks.count != before)
		f->nbytes[number - 1] = 0;
	f->nbytes[number - 1] += site->total.nbytes;
	return HATF_OK;
}

static void
put_stack(struct sink *s, uint32_t number)
{
	const struct folded *const f = s->ctx;
	const struct name *const stack = &f->stacks.rows[number - 1];
	uint8_t *start, *end;

	for (uint32_t i = 0; i < stack->nbytes; i += sizeof(uint32_t)) {
		uint32_t text;

		memcpy(&text, stack->bytes + i, sizeof(text));
		if (i != 0)
			outfile_bytes(&s->out, ";", 1);
		outfile_bytes(&s->out, names_get(&f->texts, text),
			      f->texts.rows[text - 1].nbytes);
	}
	start = outfile_room(&s->out, TEXTIO_NUMBER_MAX + 2);
	*start = ' ';
	end = textio_put_u64(start + 1, f->nbytes[number - 1]);
	*end++ = '\n';
	outfile_advance(&s->out, (size_t)(end - start));
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
			return sink_fail(s, status, NULL);
	}
	for (uint32_t number = 1; number <= f->stacks.count; number++)
		put_stack(s, number);
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
	names_init(&f->texts, UINT32_MAX, UINT64_MAX);
	names_init(&f->stacks, UINT32_MAX, UINT64_MAX);
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
	names_fini(&f->texts);
	names_fini(&f->stacks);
	free(f->nbytes);
	free(f->numbers);
	free(f);
}

const struct sink_ops folded_sink = {
	.open = open_sink,
	.write = write_records,
	.finish = finish,
	.close = close_sink,
};
