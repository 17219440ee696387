/* SPDX-License-Identifier: MIT */
/*
 * collector.c - trees under Boehm's collector, recorded by collector.dtd
 *
 * usage: collector TRACE FLAGS STEPS [generational]
 *
 * From the collector come the collections, the addresses, the deaths and the
 * promotions: it clears a link to each object that it finds inaccessible, and
 * it has marked the others.  It does not move objects; in its generational mode
 * a marked object is old until the next full collection.  From this program
 * come allocations, roots and barriers: each read and write of a reference goes
 * through a function that records it; a write also tells the collector.
 *
 * Prints: objects, collections, deaths, marks that contradict the links.
 */
#include "collector.h"

#include <gc/gc.h>
#include <gc/gc_mark.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SLOTS	3
#define ROOTS	16
#define DEPTH	6
#define PADDING 200

struct node {
	struct node *slot[SLOTS];
	uint64_t number;
};

/*
 * What is known of an object.  The collector does not see this memory, which is
 * malloc's, but clears 'link' when the object is inaccessible.
 */
struct object {
	void *link;
	GC_hidden_pointer place;
	bool is_old, is_dead, is_marked;
};

static struct node *roots[ROOTS];
static struct object *objects;
static uint64_t object_count, object_max, first_live = 1;
static uint64_t deaths, contradictions;
static struct collector_writer *writer;
static uint32_t seed = 1;

static uint32_t
pick(uint32_t below)
{
	seed = seed * 1664525u + 1013904223u;
	return (seed >> 8) % below;
}

static uint64_t
now(void)
{
	static struct timespec begin;
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	if (begin.tv_sec == 0)
		begin = t;
	return (uint64_t)((t.tv_sec - begin.tv_sec) * 1000000 +
			  (t.tv_nsec - begin.tv_nsec) / 1000);
}

/* ----------------------------------------------------------- the collector */

/* The marks are complete. */
static void
note_marks(void)
{
	for (uint64_t i = first_live; i <= object_count; i++)
		if (!objects[i].is_dead)
			objects[i].is_marked = GC_is_marked(
				GC_REVEAL_POINTER(objects[i].place));
}

/* The links of inaccessible objects are cleared. */
static void
note_fates(void)
{
	for (uint64_t i = first_live; i <= object_count; i++) {
		struct object *const o = &objects[i];

		if (o->is_dead)
			continue;
		contradictions += o->is_marked != (o->link != NULL);
		if (o->link == NULL) {
			o->is_dead = true;
			deaths++;
			collector_writer_put_die(writer,
						 &(struct collector_die){ i });
		} else if (!o->is_old) {
			o->is_old = true;
			collector_writer_put_promote(
				writer, &(struct collector_promote){ i });
		}
	}
	while (first_live <= object_count && objects[first_live].is_dead)
		first_live++;
}

/*
 * The collector calls this, under its lock.  A collection has GC_EVENT_START
 * only if the program waits for all of it.
 */
static void GC_CALLBACK
on_collection(GC_EventType event)
{
	static bool is_begun;
	const struct collector_collectionBegin begin = { now(),
							 GC_get_heap_size() };

	if (event == GC_EVENT_MARK_START && !is_begun) {
		collector_writer_put_collectionBegin(writer, &begin);
		is_begun = true;
	}
	if (event == GC_EVENT_RECLAIM_START)
		note_marks();
	if (event != GC_EVENT_RECLAIM_END)
		return;
	note_fates();
	is_begun = false;
	collector_writer_put_collectionEnd(
		writer, &(struct collector_collectionEnd){
				begin.time, begin.heapSize, GC_get_gc_no() });
}

/* ------------------------------------------------------------- the program */

static uint64_t
number_of(const struct node *n)
{
	return n != NULL ? n->number : 0;
}

static struct node *
read_slot(const struct node *n, unsigned slot)
{
	struct node *const value = n->slot[slot];

	collector_writer_put_read(
		writer,
		&(struct collector_read){ n->number, slot, number_of(value) });
	return value;
}

static void
write_slot(struct node *n, unsigned slot, struct node *value)
{
	collector_writer_put_write(
		writer,
		&(struct collector_write){ n->number, slot, number_of(value) });
	GC_PTR_STORE_AND_DIRTY(&n->slot[slot], value);
}

static void
set_root(unsigned slot, struct node *value)
{
	collector_writer_put_root(
		writer, &(struct collector_root){ slot, number_of(value) });
	roots[slot] = value;
}

static struct node *
new_node(void)
{
	const size_t size = sizeof(struct node) + pick(PADDING);
	struct node *const n = GC_MALLOC(size);
	struct object *o;

	if (n == NULL || object_count + 1 == object_max)
		exit(3);
	n->number = ++object_count;
	o = &objects[object_count];
	o->place = GC_HIDE_POINTER(n);
	o->link = (void *)o->place;
	collector_writer_put_allocate(
		writer, &(struct collector_allocate){ n->number, (uintptr_t)n,
						      size, SLOTS });
	GC_general_register_disappearing_link(&o->link, n);
	return n;
}

static struct node *
new_tree(unsigned depth)
{
	struct node *const n = new_node();

	for (unsigned i = 0; i < SLOTS && depth > 0; i++)
		if (pick(3) != 0)
			write_slot(n, i, new_tree(depth - 1));
	return n;
}

/* Walk down from a root, and give the node there another child. */
static void
step(void)
{
	const unsigned root = pick(ROOTS);
	struct node *n = roots[root], *next;

	if (n == NULL || pick(8) == 0) {
		set_root(root, new_tree(pick(DEPTH)));
		return;
	}
	while ((next = read_slot(n, pick(SLOTS))) != NULL && pick(4) != 0)
		n = next;
	write_slot(n, pick(SLOTS), pick(3) == 0 ? NULL : new_tree(pick(3)));
}

int
main(int argc, char **argv)
{
	const unsigned steps = argc > 3 ? (unsigned)atoi(argv[3]) : 0;
	GC_word collections;

	if (argc < 4)
		return 2;
	GC_INIT();
	GC_set_max_heap_size(64 << 20);
	writer = collector_writer_open(argv[1], (unsigned)atoi(argv[2]));
	object_max = (uint64_t)steps * 400 + 1000;
	objects = calloc(object_max, sizeof(*objects));
	if (writer == NULL || objects == NULL)
		return 3;
	if (argc > 4) {
		GC_set_time_limit(GC_TIME_UNLIMITED);
		GC_enable_incremental();
		if (!GC_is_incremental_mode())
			return 4;
	}
	GC_set_on_collection_event(on_collection);
	collections = GC_get_gc_no();
	for (unsigned i = 0; i < steps; i++)
		step();
	GC_gcollect();
	GC_set_on_collection_event(NULL);
	printf("%" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n",
	       object_count, (uint64_t)(GC_get_gc_no() - collections), deaths,
	       contradictions);
	return !collector_writer_close(writer, NULL);
}
