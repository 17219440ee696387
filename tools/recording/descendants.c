/* SPDX-License-Identifier: MIT */
/* descendants.c - see descendants.h */
#include "tools/recording/descendants.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* A trace whose header names 'pid' as its process or as an ancestor. */
struct claim {
	uint64_t pid;
	uint32_t trace;
	/*
	 * follow() has handled all claims of this 'pid'; set only in the first
	 * of these claims
	 */
	bool is_done;
};

/* A search in progress. */
struct search {
	/* the traces of all processes except the command's own process */
	const struct collected_trace *traces;
	size_t count;
	struct claim *claims; /* sorted by 'pid' */
	size_t claim_count;
	bool *is_found; /* for each trace: is it a descendant's? */
	uint64_t *pids; /* process of each trace found, in order of discovery */
	size_t pid_count;
};

static int
compare_pid(const void *a, const void *b)
{
	const struct claim *const x = a, *const y = b;

	return (x->pid > y->pid) - (x->pid < y->pid);
}

static void
add_claim(struct search *s, uint64_t pid, size_t trace)
{
	s->claims[s->claim_count++] =
		(struct claim){ .pid = pid, .trace = (uint32_t)trace };
}

static void
list_claims(struct search *s)
{
	for (size_t i = 0; i < s->count; i++) {
		const struct collected_trace *const t = &s->traces[i];

		add_claim(s, t->pid, i);
		for (unsigned k = 0; k < t->from_count; k++)
			add_claim(s, t->from[k], i);
	}
	qsort(s->claims, s->claim_count, sizeof(*s->claims), compare_pid);
}

static void
note_found(struct search *s, size_t trace)
{
	if (s->is_found[trace])
		return;
	s->is_found[trace] = true;
	s->pids[s->pid_count++] = s->traces[trace].pid;
}

/* Return the index of the first claim whose pid is at least 'pid'. */
static size_t
first_claim(const struct search *s, uint64_t pid)
{
	size_t low = 0, high = s->claim_count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (s->claims[middle].pid < pid)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/*
 * Find all traces of the process 'pid', and all that name 'pid' as an ancestor.
 */
static void
follow(struct search *s, uint64_t pid)
{
	const size_t first = first_claim(s, pid);

	if (first == s->claim_count || s->claims[first].pid != pid ||
	    s->claims[first].is_done)
		return;
	s->claims[first].is_done = true;
	for (size_t i = first; i < s->claim_count && s->claims[i].pid == pid;
	     i++)
		note_found(s, s->claims[i].trace);
}

static void
find_all(struct search *s, const struct launch *l)
{
	list_claims(s);
	for (size_t i = 0; i < s->count; i++)
		if (s->traces[i].is_noted)
			note_found(s, i);
	follow(s, (uint64_t)l->pid);
	for (size_t i = 0; i < s->pid_count; i++)
		follow(s, s->pids[i]);
}

static int
compare_segments(const void *a, const void *b)
{
	const struct collected_trace *const x = a, *const y = b;

	if (x->pid != y->pid)
		return x->pid > y->pid ? 1 : -1;
	if (x->start_ns != y->start_ns)
		return x->start_ns > y->start_ns ? 1 : -1;
	return (x->segment > y->segment) - (x->segment < y->segment);
}

/*
 * Move the traces found to the front, sort and count them.  'sorted' is a
 * buffer.
 */
static void
move(struct collection *c, const struct search *s,
     struct collected_trace *sorted)
{
	size_t found = 0, other = s->pid_count;

	for (size_t i = 0; i < s->count; i++)
		sorted[s->is_found[i] ? found++ : other++] = s->traces[i];
	if (found != 0)
		qsort(sorted, found, sizeof(*sorted), compare_segments);
	if (s->count != 0)
		memcpy(c->traces + c->own_count, sorted,
		       s->count * sizeof(*sorted));
	c->descendant_count = found;
}

bool
descendants_find(struct collection *c, const struct launch *l)
{
	const size_t n = c->count - c->own_count;
	struct search s = { .traces = c->traces + c->own_count, .count = n };
	struct collected_trace *const sorted = calloc(n + 1, sizeof(*sorted));
	bool ok;

	s.claims =
		calloc(n + 1, (COLLECT_ANCESTORS_MAX + 1) * sizeof(*s.claims));
	s.is_found = calloc(n + 1, sizeof(*s.is_found));
	s.pids = calloc(n + 1, sizeof(*s.pids));
	ok = sorted != NULL && s.claims != NULL && s.is_found != NULL &&
	     s.pids != NULL && n <= UINT32_MAX;
	if (ok) {
		find_all(&s, l);
		move(c, &s, sorted);
	}
	free(sorted);
	free(s.claims);
	free(s.is_found);
	free(s.pids);
	return ok;
}
