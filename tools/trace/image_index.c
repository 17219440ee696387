/* SPDX-License-Identifier: MIT */
/* image_index.c - see image_index.h */
#include "tools/trace/image_index.h"

#include <stdlib.h>
#include <string.h>

static int
compare_u64(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int
compare_pid(const struct tree_trace *a, const struct tree_trace *b)
{
	const int order = strcmp(a->host, b->host);

	return order != 0 ? order : compare_u64(a->pid, b->pid);
}

static int
compare_time(const struct tree_node *a, const struct tree_node *b)
{
	const int order = compare_u64(a->traces->start_ns, b->traces->start_ns);

	/* Break ties by the position in the node array, which is sorted. */
	return order != 0 ? order : (a > b) - (a < b);
}

static int
compare_nodes(const void *x, const void *y)
{
	struct tree_node *const *const a = x, *const *const b = y;
	const int order = compare_pid((*a)->traces, (*b)->traces);

	return order != 0 ? order : compare_time(*a, *b);
}

static int
compare_names(const void *x, const void *y)
{
	const struct image_name *const a = x, *const b = y;
	int order = compare_pid(a->node->traces, b->node->traces);

	if (order == 0)
		order = strcmp(a->name, b->name);
	return order != 0 ? order : compare_time(a->node, b->node);
}

static const char *
base_name(const char *path)
{
	const char *const slash = strrchr(path, '/');

	return slash != NULL ? slash + 1 : path;
}

bool
image_index_init(struct image_index *x, const struct tree *f)
{
	*x = (struct image_index){
		.nodes = calloc(f->node_count + 1, sizeof(struct tree_node *)),
		.names = calloc(f->trace_count + 1, sizeof(*x->names)),
	};
	if (x->nodes == NULL || x->names == NULL)
		return false;
	for (size_t i = 0; i < f->node_count; i++) {
		struct tree_node *const node = &f->nodes[i];

		x->nodes[x->node_count++] = node;
		for (size_t j = 0; j < node->trace_count; j++)
			x->names[x->name_count++] = (struct image_name){
				base_name(node->traces[j].path), node
			};
	}
	qsort(x->nodes, x->node_count, sizeof(struct tree_node *),
	      compare_nodes);
	qsort(x->names, x->name_count, sizeof(*x->names), compare_names);
	return true;
}

void
image_index_fini(struct image_index *x)
{
	free(x->nodes);
	free(x->names);
}

/*
 * Return how many nodes sort before the process of 'key', or are of this
 * process and began no later than 'key'.
 */
static size_t
count_until(const struct image_index *x, const struct tree_trace *key)
{
	size_t low = 0, high = x->node_count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;
		const struct tree_trace *const t = x->nodes[middle]->traces;
		int order = compare_pid(t, key);

		if (order == 0)
			order = compare_u64(t->start_ns, key->start_ns);
		if (order <= 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

struct tree_node *
image_index_by_time(const struct image_index *x, const struct tree_trace *t,
		    uint64_t pid)
{
	const struct tree_trace key = {
		.host = t->host,
		.pid = pid,
		.start_ns = t->start_ns,
	};
	size_t i = count_until(x, &key);

	/* If the image found is that of 't', take the image before it. */
	if (i != 0 && x->nodes[i - 1]->traces == t)
		i--;
	return i != 0 && compare_pid(x->nodes[i - 1]->traces, &key) == 0
		       ? x->nodes[i - 1]
		       : NULL;
}

struct tree_node *
image_index_by_name(const struct image_index *x, const struct tree_trace *t,
		    uint64_t pid, const char *path)
{
	const struct tree_trace like = { .host = t->host, .pid = pid };
	const char *const name = base_name(path);
	size_t low = 0, high = x->name_count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;
		const struct image_name *const m = &x->names[middle];
		int order = compare_pid(m->node->traces, &like);

		if (order == 0)
			order = strcmp(m->name, name);
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < x->name_count; low++) {
		const struct image_name *const m = &x->names[low];

		if (compare_pid(m->node->traces, &like) != 0 ||
		    strcmp(m->name, name) != 0 ||
		    m->node->traces->start_ns > t->start_ns)
			break;
		if (m->node->traces != t)
			return m->node;
	}
	return NULL;
}
