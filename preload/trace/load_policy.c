/* SPDX-License-Identifier: MIT */
/* load_policy.c - see load_policy.h */

#include "preload/trace/load_policy.h"

#include <sys/resource.h>

#include "preload/sys/sys.h"

/*
 * At so much pressure it is not that a ring had to grow, or that the writer got no
 * processor for a moment.  It never gets higher than the second one.
 */
#define PRESSURE_HIGH 8u
#define PRESSURE_MAX  32u
/* Figures older than about so many bytes count half. */
#define COST_NBYTES (16u << 20)
/* How long the writer's load is watched before it is judged. */
#define JUDGE_NS (NS_PER_SEC / 20)
/* It is low enough to take more time for the bytes if it stays below this, in %. */
#define LOAD_MAX 75
/*
 * Preemptions a second of the process's threads.  A thread that shares a processor
 * with another one has more than a hundred: its turn takes 3 ms or so.  What the
 * system does on its own comes to a few dozen.
 */
#define CONTENDED_MIN 200u
#define CONTENDED_END 100u
#define LOOK_NS	      (NS_PER_SEC / 10)

void
haste_note_waits(struct haste *h, uint64_t waits)
{
	if (waits == h->waits)
		h->pressure /= 2;
	else if (h->pressure < PRESSURE_MAX)
		h->pressure++;
	h->waits = waits;
}

void
haste_note_packed(struct haste *h, uint64_t ns, size_t nbytes, size_t packed)
{
	if (h->packed_nbytes > COST_NBYTES) {
		h->pack_ns /= 2;
		h->packed_nbytes /= 2;
		h->spared_nbytes /= 2;
	}
	h->pack_ns += ns;
	h->packed_nbytes += nbytes;
	h->spared_nbytes += packed < nbytes ? nbytes - packed : 0;
}

void
haste_note_written(struct haste *h, uint64_t ns, size_t nbytes)
{
	if (h->written_nbytes > COST_NBYTES) {
		h->write_ns /= 2;
		h->written_nbytes /= 2;
	}
	h->write_ns += ns;
	h->written_nbytes += nbytes;
}

/* By how much compressing takes longer than what it spares to write; 0: not. */
static uint64_t
packing_ns(const struct haste *h, size_t nbytes)
{
	double ns;

	if (h->packed_nbytes == 0 || h->written_nbytes == 0)
		return 0;
	ns = ((double)h->pack_ns - (double)h->write_ns *
					   (double)h->spared_nbytes /
					   (double)h->written_nbytes) *
	     (double)nbytes / (double)h->packed_nbytes;
	return ns > 0 ? (uint64_t)ns : 0;
}

bool
haste_is_storing(const struct haste *h)
{
	return h->is_pressed && packing_ns(h, COST_NBYTES) != 0;
}

/* Has the writer time again for all that it does not do now? */
static void
judge_load(struct haste *h, uint64_t now_ns, size_t nbytes)
{
	const uint64_t wall_ns = now_ns - h->block_ns;

	h->wall_ns += wall_ns;
	h->work_ns += packing_ns(h, nbytes);
	if (h->slept_ns < wall_ns)
		h->work_ns += wall_ns - h->slept_ns;
	if (h->wall_ns < JUDGE_NS)
		return;
	h->is_pressed = h->pressure >= PRESSURE_HIGH ||
			h->work_ns * 100 >= h->wall_ns * LOAD_MAX;
	h->wall_ns = 0;
	h->work_ns = 0;
}

static void
look_for_contention(struct haste *h, uint64_t now_ns)
{
	const uint64_t passed_ns = now_ns - h->looked_ns;
	uint64_t preemptions, least;
	struct rusage usage;

	if (passed_ns < LOOK_NS || getrusage(RUSAGE_SELF, &usage) != 0)
		return;
	preemptions = (uint64_t)usage.ru_nivcsw - h->preemptions;
	least = h->is_contended ? CONTENDED_END : CONTENDED_MIN;
	/* The first time there is nothing to compare with. */
	h->is_contended = h->looked_ns != 0 &&
			  preemptions * NS_PER_SEC > least * passed_ns;
	h->preemptions += preemptions;
	h->looked_ns = now_ns;
}

bool
haste_end_block(struct haste *h, uint64_t now_ns, size_t nbytes)
{
	if (h->is_pressed && h->block_ns != 0)
		judge_load(h, now_ns, nbytes);
	else
		h->is_pressed = h->pressure >= PRESSURE_HIGH;
	h->block_ns = now_ns;
	h->slept_ns = 0;
	look_for_contention(h, now_ns);
	return h->is_pressed || h->is_contended;
}
