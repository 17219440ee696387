/* SPDX-License-Identifier: MIT */
/*
 * image_index.h - find the images of a process by time or by file name
 *
 * An image is a node of a process tree.  In a directory, any number of traces
 * may have the same process id, as traces of containers often have.  Therefore
 * a search must not look at each of these traces.  Only one thread at a time
 * may use an index.
 */
#ifndef IMAGE_INDEX_H
#define IMAGE_INDEX_H

#include "tools/trace/process_tree.h"

/* A trace file of an image. */
struct image_name {
	const char *name; /* the last component of its path */
	struct tree_node *node;
};

struct image_index {
	/* sorted by host, process id and start */
	struct tree_node **nodes;
	size_t node_count;
	/* sorted by host, process id, name and start */
	struct image_name *names;
	size_t name_count;
};

/*
 * Index the nodes of a tree, which must outlive the index and must not move.
 * Return false if out of memory.  Call image_index_fini() even then.
 */
bool image_index_init(struct image_index *x, const struct tree *f);
void image_index_fini(struct image_index *x);

/*
 * Of the images of process 'pid' on the host of 't', return the latest one that
 * began no later than 't'.  The image of 't' itself does not count.  Return
 * NULL if there is none.
 */
struct tree_node *image_index_by_time(const struct image_index *x,
				      const struct tree_trace *t, uint64_t pid);

/*
 * Like image_index_by_time(), but return the first of these images that has a
 * file with the same name as 'path', apart from the folders.
 */
struct tree_node *image_index_by_name(const struct image_index *x,
				      const struct tree_trace *t, uint64_t pid,
				      const char *path);

#endif /* IMAGE_INDEX_H */
