/* SPDX-License-Identifier: MIT */
/* callers.c - see callers.h */
#include "tools/show/callers.h"

#include <stdlib.h>
#include <string.h>

/* Maximum number of frames by which callers_find() goes outwards. */
#define STEPS_MAX 32

struct callers {
	const struct groups *sites;
	struct site_names *names;
	/*
	 * rows[first[n]] to rows[first[n + 1] - 1] are the census rows of the
	 * stacks of site n.
	 */
	uint32_t *first, *rows;
	/*
	 * for each stack that begin() chose: the caller that callers_find() has
	 * reached on its way outwards, as the id of the stack whose innermost
	 * frame is this caller; 0: there are no more callers
	 */
	uint64_t *at;
};

/*
 * The name of the caller that callers_find() has reached in one stack, and the
 * result of groups_value() for this stack.  Several shares may have the same
 * name.
 */
struct share {
	char *name;
	uint64_t value;
};

struct callers *
callers_open(const struct groups *sites, struct site_names *names)
{
	struct callers *const c = calloc(1, sizeof(*c));
	const uint32_t count =
		sites->of_stacks ? sites->census->by_stack.count : 0;

	if (c == NULL)
		return NULL;
	c->sites = sites;
	c->names = names;
	c->first = calloc(sites->count + 2, sizeof(*c->first));
	c->rows = calloc(count + 1, sizeof(*c->rows));
	c->at = calloc(count + 1, sizeof(*c->at));
	if (c->first == NULL || c->rows == NULL || c->at == NULL) {
		callers_close(c);
		return NULL;
	}
	/* Sort the stacks by site: count them, then put each in its place. */
	for (uint32_t row = STACK_FIRST; row < count; row++)
		if (sites->group_of[row] != GROUP_NONE)
			c->first[sites->group_of[row] + 2]++;
	for (uint32_t i = 2; i < sites->count + 2; i++)
		c->first[i] += c->first[i - 1];
	for (uint32_t row = STACK_FIRST; row < count; row++)
		if (sites->group_of[row] != GROUP_NONE)
			c->rows[c->first[sites->group_of[row] + 1]++] = row;
	return c;
}

void
callers_close(struct callers *c)
{
	if (c == NULL)
		return;
	free(c->first);
	free(c->rows);
	free(c->at);
	free(c);
}

/* ---------------------------------------------------------- the main caller */

/*
 * Return the name of the innermost frame of 'stack', or "" if 'stack' is 0.
 * Return NULL if there is no memory.
 */
static const char *
name_of(const struct callers *c, uint64_t stack)
{
	const char *name;

	if (stack == 0)
		return "";
	name = site_names_get(c->names, stack, SITE_FUNCTION);
	if (name != NULL && strcmp(name, "[unknown]") == 0)
		name = site_names_get(c->names, stack, SITE_PLACE);
	return name;
}

/* Return the stack of the next visible caller; 0 if there is none. */
static uint64_t
go_out(const struct callers *c, uint64_t stack)
{
	const uint64_t caller = site_names_caller(c->names, stack);

	return caller != 0 ? site_names_top(c->names, caller) : 0;
}

/*
 * Have the first 'n' stacks reached callers with different names?  Return 1 if
 * they have, 0 if not, -1 if there is no memory.  If 0 is returned, '*end_ret'
 * says whether all these stacks have reached their ends.
 */
static int
divides(const struct callers *c, uint32_t n, bool *end_ret)
{
	const char *name = name_of(c, c->at[0]);
	char *const first = name != NULL ? strdup(name) : NULL;
	int answer = 0;

	if (first == NULL)
		return -1;
	*end_ret = first[0] == '\0';
	for (uint32_t i = 1; i < n && answer == 0; i++) {
		name = name_of(c, c->at[i]);
		answer = name == NULL ? -1 : strcmp(name, first) != 0;
	}
	free(first);
	return answer;
}

static int
compare_names(const void *a, const void *b)
{
	return strcmp(((const struct share *)a)->name,
		      ((const struct share *)b)->name);
}

/* Sum the shares with equal names; return the name that has the largest sum. */
static const char *
find_largest(struct share *shares, uint32_t n)
{
	const char *largest = "";
	uint64_t most = 0;

	qsort(shares, n, sizeof(*shares), compare_names);
	for (uint32_t i = 0; i < n;) {
		const char *const name = shares[i].name;
		uint64_t sum = 0;

		for (; i < n && strcmp(shares[i].name, name) == 0; i++)
			sum += shares[i].value;
		if (sum > most) {
			most = sum;
			largest = name;
		}
	}
	return largest;
}

/*
 * Of the callers that the stacks have reached, return the name of the main one;
 * NULL if there is no memory.
 */
static char *
name_main(const struct callers *c, const uint64_t *values, uint32_t n)
{
	struct share *const shares = calloc(n, sizeof(*shares));
	bool ok = shares != NULL;
	char *main = NULL;

	for (uint32_t i = 0; ok && i < n; i++) {
		const char *const name = name_of(c, c->at[i]);

		shares[i].value = values[i];
		shares[i].name = name != NULL ? strdup(name) : NULL;
		ok = shares[i].name != NULL;
	}
	if (ok)
		main = strdup(find_largest(shares, n));
	for (uint32_t i = 0; shares != NULL && i < n; i++)
		free(shares[i].name);
	free(shares);
	return main;
}

/*
 * Take those stacks of the site that have a value other than 0 for 'key'.  In
 * each of them, go to the caller of the site.  Store the values of these
 * stacks, and return the number of stacks.
 */
static uint32_t
begin(struct callers *c, uint32_t site, enum group_key key, uint64_t *values)
{
	const struct census *const census = c->sites->census;
	uint32_t n = 0;

	for (uint32_t i = c->first[site]; i < c->first[site + 1]; i++) {
		const uint32_t row = c->rows[i];
		const uint64_t value =
			groups_value(census, &census->by_stack.rows[row], key);

		if (value == 0)
			continue;
		values[n] = value;
		c->at[n++] = go_out(
			c, site_names_top(c->names, census->stack_ids[row]));
	}
	return n;
}

bool
callers_find(struct callers *c, uint32_t site, enum group_key key,
	     struct main_caller *caller_ret)
{
	const uint32_t most = c->first[site + 1] - c->first[site];
	uint64_t *const values = calloc(most + 1, sizeof(*values));
	const uint32_t n = values != NULL ? begin(c, site, key, values) : 0;
	bool ok = values != NULL, at_end = false;

	*caller_ret = (struct main_caller){ .is_direct = true };
	for (unsigned step = 0; ok && n > 1 && step < STEPS_MAX; step++) {
		const int answer = divides(c, n, &at_end);

		if (answer == 1)
			caller_ret->name = name_main(c, values, n);
		ok = answer == 0 || caller_ret->name != NULL;
		if (answer != 0 || at_end)
			break;
		caller_ret->is_direct = false;
		for (uint32_t i = 0; i < n; i++)
			c->at[i] = go_out(c, c->at[i]);
	}
	free(values);
	if (caller_ret->name != NULL && caller_ret->name[0] == '\0') {
		free(caller_ret->name);
		caller_ret->name = NULL;
	}
	return ok;
}

/* --------------------------------------------------------------------- glob */

bool
callers_glob(struct callers *c, uint32_t site, char buf[CALLERS_GLOB_NBYTES])
{
	static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "abcdefghijklmnopqrstuvwxyz"
				    "0123456789_:.+~<>,@$-/";
	const char *name = name_of(c, c->sites->rows[site].number);
	size_t nbytes;

	if (name == NULL)
		return false;
	/*
	 * Leave out the parameters of a function, and the folders in the path
	 * of a module.
	 */
	nbytes = strcspn(name, "(");
	if (strspn(name, plain) < nbytes)
		return false;
	for (size_t i = nbytes; i-- > 0;)
		if (name[i] == '/') {
			name += i + 1;
			nbytes -= i + 1;
			break;
		}
	if (nbytes == 0 || nbytes >= CALLERS_GLOB_NBYTES)
		return false;
	memcpy(buf, name, nbytes);
	buf[nbytes] = '\0';
	return true;
}
