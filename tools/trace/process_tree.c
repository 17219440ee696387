/* SPDX-License-Identifier: MIT */
/*
 * process_tree.c - see process_tree.h
 *
 * All traces are sorted by host, process and time.  After sorting, the segments
 * of an image are adjacent, and so are the images of a process and the
 * processes with the same id.
 */
#include "tools/trace/process_tree.h"

#include "hatf/hatf.h"
#include "tools/trace/image_index.h"
#include "tools/trace/scan.h"
#include "tools/ui/message.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

void
tree_init(struct tree *f)
{
	memset(f, 0, sizeof(*f));
}

static void
free_trace(struct tree_trace *t)
{
	free(t->path);
	free(t->host);
	free(t->exe);
	free(t->command);
	free(t->parent_trace);
	free(t->ancestors);
}

void
tree_fini(struct tree *f)
{
	for (size_t i = 0; i < f->trace_count; i++)
		free_trace(&f->traces[i]);
	free(f->traces);
	free(f->nodes);
}

static bool
no_memory(void)
{
	message_print("%s", hatf_status_text(HATF_NO_MEMORY));
	return false;
}

/* ------------------------------------------------------------------ reading */

static uint64_t
number(const struct hatf_reader *reader, const char *key)
{
	const char *const text = hatf_reader_header(reader, key);

	return text != NULL ? strtoull(text, NULL, 10) : 0;
}

static char *
copy(const struct hatf_reader *reader, const char *key)
{
	const char *const text = hatf_reader_header(reader, key);

	return strdup(text != NULL ? text : "");
}

static bool
read_header(const struct hatf_reader *reader, const char *path,
	    struct tree_trace *t)
{
	*t = (struct tree_trace){
		.path = strdup(path),
		.host = copy(reader, "host"),
		.exe = copy(reader, "exe"),
		.command = copy(reader, "command"),
		.parent_trace = copy(reader, "parent_trace"),
		.ancestors = copy(reader, "ancestors"),
		.pid = number(reader, "pid"),
		.ppid = number(reader, "ppid"),
		.pid_start = number(reader, "pid_start"),
		.start_ns = number(reader, "start_monotonic"),
		.start_time = number(reader, "start_time"),
		.parent_pid = number(reader, "parent_pid"),
		.parent_event = number(reader, "parent_event"),
		.is_exact = number(reader, "parent_event_exact") == 1,
		.segment = number(reader, "segment"),
		.events_before = number(reader, "events_before"),
		.lost_before = number(reader, "lost_before"),
	};
	return t->path != NULL && t->host != NULL && t->exe != NULL &&
	       t->command != NULL && t->parent_trace != NULL &&
	       t->ancestors != NULL;
}

static bool
append(struct tree *f, const struct tree_trace *t)
{
	if (f->trace_count == f->trace_cap) {
		const size_t cap = f->trace_cap != 0 ? 2 * f->trace_cap : 64;
		struct tree_trace *const grown =
			reallocarray(f->traces, cap, sizeof(*grown));

		if (grown == NULL)
			return false;
		f->traces = grown;
		f->trace_cap = cap;
	}
	f->traces[f->trace_count++] = *t;
	return true;
}

/*
 * Add an open trace if it has a HATF header and is not a snapshot.  Set
 * '*ours_ret' to whether it has the header.  If there is no memory, print a
 * message and return false.
 */
static bool
add_open(struct tree *f, const struct hatf_reader *reader, const char *path,
	 bool is_found, bool *ours_ret)
{
	struct hatf_reader_stats stats = { .struct_nbytes = sizeof(stats) };
	struct tree_trace t;

	hatf_reader_get_stats(reader, &stats);
	*ours_ret = stats.ours;
	if (!stats.ours || hatf_reader_header(reader, "snapshot_of") != NULL)
		return true;
	if (!read_header(reader, path, &t) || !append(f, &t)) {
		free_trace(&t);
		return no_memory();
	}

	struct tree_trace *const last = &f->traces[f->trace_count - 1];

	last->is_found = is_found;
	last->has_trailer = trailer_read(path, is_found, &last->tail);
	return true;
}

/* Is 'path' a regular file whose name ends in ".hatf" or ".hatf.gz"? */
static bool
is_named_as_trace(const char *path)
{
	static const char *const suffixes[] = { ".hatf", ".hatf.gz" };
	const size_t nbytes = strlen(path);
	struct stat st;
	bool is_one = false;

	for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
		const size_t n = strlen(suffixes[i]);

		is_one |= nbytes > n &&
			  strcmp(path + nbytes - n, suffixes[i]) == 0;
	}
	return is_one && stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

/* Report why a file is not a trace. */
static void
report(const char *path)
{
	struct hatf_reader *reader;
	struct hatf_error err;

	if (hatf_reader_open(path, NULL, &reader, &err) == HATF_OK)
		hatf_reader_close(reader);
	else
		message_error(path, &err);
}

/*
 * Add the file if it is a trace.  Skip other files, which a directory may
 * contain.  But if the tree is strict and such a file is named like a trace,
 * report why it is not a trace, and return false.
 */
static bool
add_found(struct tree *f, const char *path)
{
	struct hatf_reader *const reader = scan_found(path);
	bool ours, is_fine;

	if (reader == NULL && f->is_strict && is_named_as_trace(path)) {
		report(path);
		return false;
	}
	if (reader == NULL)
		return true;
	is_fine = add_open(f, reader, path, true, &ours);
	hatf_reader_close(reader);
	return is_fine;
}

static bool
add_named(struct tree *f, const char *path)
{
	struct hatf_reader *reader;
	struct hatf_error err;
	bool ours, is_fine;

	if (hatf_reader_open(path, NULL, &reader, &err) != HATF_OK) {
		message_error(path, &err);
		return false;
	}
	is_fine = add_open(f, reader, path, false, &ours);
	hatf_reader_close(reader);
	if (is_fine && !ours)
		message_print(
			"%s: the trace has no HATF header, so its process is "
			"unknown",
			path);
	return is_fine && ours;
}

static bool
add_directory(struct tree *f, const char *path, DIR *dir)
{
	const bool slash = path[0] != '\0' && path[strlen(path) - 1] == '/';
	const struct dirent *entry;
	bool is_fine = true;
	char *name;

	while ((entry = readdir(dir)) != NULL) {
		if (asprintf(&name, "%s%s%s", path, slash ? "" : "/",
			     entry->d_name) < 0)
			return no_memory();
		is_fine = add_found(f, name) && is_fine;
		free(name);
	}
	return is_fine;
}

bool
tree_add(struct tree *f, const char *path)
{
	const size_t before = f->trace_count;
	DIR *const dir = opendir(path);
	bool is_fine;

	if (dir == NULL && errno == ENOTDIR)
		return add_named(f, path);
	if (dir == NULL) {
		message_print("%s: %s", path, strerror(errno));
		return false;
	}
	is_fine = add_directory(f, path, dir);
	closedir(dir);
	if (is_fine && f->trace_count == before)
		message_print("%s: contains no trace (snapshots and traces "
			      "without a HATF header do not count)",
			      path);
	return is_fine && f->trace_count != before;
}

/* ------------------------------------------------------------------- order */

static int
compare_u64(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

/* Compare two traces by process: its host, id and start. */
static int
compare_process(const struct tree_trace *a, const struct tree_trace *b)
{
	int order = strcmp(a->host, b->host);

	if (order == 0)
		order = compare_u64(a->pid, b->pid);
	return order != 0 ? order : compare_u64(a->pid_start, b->pid_start);
}

/* Compare two traces by process, and within a process by image. */
static int
compare_image(const struct tree_trace *a, const struct tree_trace *b)
{
	int order = compare_process(a, b);

	if (order == 0)
		order = compare_u64(a->start_ns, b->start_ns);
	return order != 0 ? order : compare_u64(a->start_time, b->start_time);
}

static int
compare_trace(const void *x, const void *y)
{
	const struct tree_trace *const a = x, *const b = y;
	int order = compare_image(a, b);

	if (order == 0)
		order = compare_u64(a->segment, b->segment);
	if (order == 0)
		order = b->has_trailer - a->has_trailer;
	return order != 0 ? order : strcmp(a->path, b->path);
}

/*
 * Are two traces of the same image?  If headers name no process, as in
 * anonymized traces, take each file as an image of its own.
 */
static bool
is_same_image(const struct tree_trace *a, const struct tree_trace *b)
{
	return compare_image(a, b) == 0 &&
	       (a->pid != 0 || strcmp(a->path, b->path) == 0);
}

/*
 * If several traces are of the same segment, keep only the first.  Sorting has
 * put a copy with a trailer before one without.
 */
static void
drop_duplicates(struct tree *f)
{
	size_t kept = 0;

	for (size_t i = 0; i < f->trace_count; i++) {
		struct tree_trace *const t = &f->traces[i];
		const struct tree_trace *const last =
			kept != 0 ? &f->traces[kept - 1] : NULL;

		if (last == NULL || !is_same_image(last, t) ||
		    last->segment != t->segment) {
			f->traces[kept++] = *t;
			continue;
		}
		if (strcmp(last->path, t->path) != 0)
			message_print("%s: ignored: the same trace as %s",
				      t->path, last->path);
		free_trace(t);
	}
	f->trace_count = kept;
}

static bool
make_nodes(struct tree *f)
{
	f->nodes = calloc(f->trace_count + 1, sizeof(*f->nodes));
	if (f->nodes == NULL)
		return no_memory();
	for (size_t i = 0; i < f->trace_count; i++) {
		struct tree_trace *const t = &f->traces[i];

		if (i == 0 || !is_same_image(&t[-1], t))
			f->nodes[f->node_count++].traces = t;
		f->nodes[f->node_count - 1].trace_count++;
	}
	return true;
}

/* -------------------------------------------------------------------- links */

/*
 * Of the images of the process of 'key', return the latest one that began no
 * later than 't'.  The image of 't' itself does not count.  Return NULL if
 * there is none.
 */
static struct tree_node *
find_in_process(const struct tree *f, const struct tree_trace *t,
		const struct tree_trace *key)
{
	size_t low = 0, high = f->node_count;

	/*
	 * Count the nodes that sort before the process of 'key', or are of this
	 * process and began no later than 't'.
	 */
	while (low < high) {
		const size_t middle = low + (high - low) / 2;
		const struct tree_trace *const n = f->nodes[middle].traces;
		const int order = compare_process(n, key);

		if (order < 0 || (order == 0 && n->start_ns <= t->start_ns))
			low = middle + 1;
		else
			high = middle;
	}
	/* If the image found is that of 't', take the image before it. */
	if (low != 0 && f->nodes[low - 1].traces == t)
		low--;
	return low != 0 && compare_process(f->nodes[low - 1].traces, key) == 0
		       ? &f->nodes[low - 1]
		       : NULL;
}

static const char *
base_name(const char *path)
{
	const char *const slash = strrchr(path, '/');

	return slash != NULL ? slash + 1 : path;
}

const struct tree_trace *
tree_find_file(const struct tree_node *node, const char *path)
{
	for (size_t i = 0; i < node->trace_count; i++)
		if (strcmp(base_name(node->traces[i].path), base_name(path)) ==
		    0)
			return &node->traces[i];
	return NULL;
}

/*
 * Of the images of process 'pid' on the host of 't', return the one that
 * existed when 't' began: the latest that began no later than 't'.  The image
 * of 't' itself does not count.  'pid_start' is the start of the process; 0:
 * unknown.  If the start is unknown, other processes may have had the same id;
 * so if 'file' is not NULL, prefer the first image that has a trace with the
 * name of 'file'.  Return NULL if no image was found.
 */
static struct tree_node *
find_image(const struct tree *f, const struct tree_trace *t, uint64_t pid,
	   uint64_t pid_start, const char *file)
{
	const struct tree_trace key = {
		.host = t->host,
		.pid = pid,
		.pid_start = pid_start,
	};
	struct tree_node *found = NULL;

	/* 0 stands for an unknown process in headers. */
	if (pid == 0)
		return NULL;
	if (pid_start != 0)
		return find_in_process(f, t, &key);
	if (file != NULL)
		found = image_index_by_name(f->index, t, pid, file);
	return found != NULL ? found : image_index_by_time(f->index, t, pid);
}

/* Return the previous image of the same process; NULL if there is none. */
static struct tree_node *
image_before(const struct tree *f, const struct tree_node *node)
{
	struct tree_node *const before =
		node != f->nodes ? &f->nodes[node - f->nodes - 1] : NULL;

	if (before == NULL || node->traces->pid == 0 ||
	    compare_process(before->traces, node->traces) != 0)
		return NULL;
	/*
	 * Without /proc, the header does not state the start of the process.
	 * Then the earlier image may be of another process with the same id.
	 * So require that the trailer of the earlier image says that its
	 * process executed a program.
	 */
	if (node->traces->pid_start != 0 ||
	    (tree_last_trace(before)->has_trailer &&
	     strcmp(tree_last_trace(before)->tail.end, "exec") == 0))
		return before;
	return NULL;
}

static uint64_t
take_number(const char **text)
{
	uint64_t n = 0;

	while (**text >= '0' && **text <= '9')
		n = n * 10 + (uint64_t)(*(*text)++ - '0');
	return n;
}

/*
 * Return the nearest ancestor of the process of 't' that has a trace in the
 * tree.  Set '*between_ret' to the number of processes between that ancestor
 * and the process of 't'.
 */
static struct tree_node *
find_ancestor(const struct tree *f, const struct tree_trace *t,
	      unsigned *between_ret)
{
	const char *next = t->ancestors;

	*between_ret = 0;
	if (*next == '\0')
		return find_image(f, t, t->ppid, 0, NULL);
	while (*next != '\0') {
		const uint64_t pid = take_number(&next);
		uint64_t start = 0;
		struct tree_node *found;

		if (*next == '@') {
			next++;
			start = take_number(&next);
		}
		found = find_image(f, t, pid, start, NULL);
		if (found != NULL)
			return found;
		++*between_ret;
		if (*next != ' ')
			break;
		next++;
	}
	return NULL;
}

static void
link_node(const struct tree *f, struct tree_node *node)
{
	const struct tree_trace *const t = node->traces;

	assert(t != NULL); /* every node has at least one trace */
	if (t->parent_pid != 0) {
		node->parent =
			find_image(f, t, t->parent_pid, 0, t->parent_trace);
		node->origin = node->parent != NULL ? TREE_FORK : TREE_ORPHAN;
		/*
		 * Stop here if the parent was found, or if the header names a
		 * trace of the parent.  Otherwise the parent was not traced,
		 * but an earlier ancestor may be in the tree.
		 */
		if (node->parent != NULL || t->parent_trace[0] != '\0')
			return;
	}
	node->parent = image_before(f, node);
	node->origin = TREE_EXEC;
	if (node->parent == NULL) {
		node->parent = find_ancestor(f, t, &node->untraced);
		node->origin = TREE_START;
	}
	if (node->parent == NULL) {
		node->origin = t->parent_pid != 0 ? TREE_ORPHAN : TREE_ROOT;
		node->untraced = 0;
	}
}

/* Find the parent of each node.  Return false if out of memory. */
static bool
link_nodes(struct tree *f)
{
	struct image_index index;
	const bool is_fine = image_index_init(&index, f);

	f->index = &index;
	for (size_t i = 0; is_fine && i < f->node_count; i++)
		link_node(f, &f->nodes[i]);
	f->index = NULL;
	image_index_fini(&index);
	return is_fine;
}

/*
 * Remove cycles.  From each node, walk from parent to parent up to the first
 * visited node.  If the same walk has visited that node, there is a cycle:
 * remove the link that closes it.  Until tree_build() sets the depths, 'depth'
 * of a node is the number of the walk that visited the node; 0: not visited.
 */
static void
cut_cycles(struct tree *f)
{
	for (size_t i = 0; i < f->node_count; i++) {
		const unsigned way = (unsigned)i + 1;
		struct tree_node *node = &f->nodes[i];

		while (node != NULL && node->depth == 0) {
			node->depth = way;
			if (node->parent != NULL &&
			    node->parent->depth == way) {
				node->parent = NULL;
				node->origin = TREE_ROOT;
			}
			node = node->parent;
		}
	}
}

static int
compare_start(const void *x, const void *y)
{
	struct tree_node *const *const a = x, *const *const b = y;
	const struct tree_trace *const s = (*a)->traces, *const t =
								 (*b)->traces;
	int order = compare_u64(s->start_time, t->start_time);

	if (order == 0)
		order = compare_u64(s->start_ns, t->start_ns);
	return order != 0 ? order : compare_trace(s, t);
}

static void
hang(struct tree *f, struct tree_node *node)
{
	struct tree_node *const parent = node->parent;
	struct tree_node **const first =
		parent != NULL ? &parent->first_child : &f->first_root;
	struct tree_node **const last =
		parent != NULL ? &parent->last_child : &f->last_root;

	if (*last == NULL)
		*first = node;
	else
		(*last)->next = node;
	*last = node;
}

bool
tree_build(struct tree *f)
{
	struct tree_node **sorted;

	if (f->trace_count != 0)
		qsort(f->traces, f->trace_count, sizeof(*f->traces),
		      compare_trace);
	drop_duplicates(f);
	if (!make_nodes(f))
		return false;
	if (!link_nodes(f))
		return no_memory();
	cut_cycles(f);
	sorted = calloc(f->node_count + 1, sizeof(struct tree_node *));
	if (sorted == NULL)
		return no_memory();
	for (size_t i = 0; i < f->node_count; i++)
		sorted[i] = &f->nodes[i];
	qsort(sorted, f->node_count, sizeof(struct tree_node *), compare_start);
	for (size_t i = 0; i < f->node_count; i++)
		hang(f, sorted[i]);
	free(sorted);
	for (struct tree_node *n = tree_next(f, NULL); n != NULL;
	     n = tree_next(f, n))
		n->depth = n->parent != NULL ? n->parent->depth + 1 : 0;
	return true;
}

struct tree_node *
tree_next(const struct tree *f, const struct tree_node *node)
{
	if (node == NULL)
		return f->first_root;
	if (node->first_child != NULL)
		return node->first_child;
	while (node != NULL && node->next == NULL)
		node = node->parent;
	return node != NULL ? node->next : NULL;
}
