/* SPDX-License-Identifier: MIT */
/* load_policy.c - see load_policy.h */

#include "preload/trace/load_policy.h"

#include <sys/resource.h>

#include "preload/sys/sys.h"

/*
 * The writer counts as pressed from the moment when the pressure reaches
 * PRESSURE_HIGH until judge_load() finds that the writer would keep up even if
 * it compressed.  A ring that has to grow, or a writer that gets no processor
 * for a moment, causes less pressure than PRESSURE_HIGH.  The pressure never
 * exceeds PRESSURE_MAX.
 */
#define PRESSURE_HIGH 8u
#define PRESSURE_MAX  32u
/*
 * After this many bytes, halve the sums of costs, so that older costs weigh
 * less.
 */
#define COST_NBYTES (16u << 20)
/* Judge the writer's load after measuring it for this long. */
#define JUDGE_NS (NS_PER_SEC / 20)
/* Below this load, in percent, the writer has time to compress. */
#define LOAD_MAX 75
/*
 * Numbers of preemptions per second of all threads of the process.  The threads
 * count as sharing processors from the moment when they have more than
 * CONTENDED_MIN preemptions per second until they have at most CONTENDED_END.
 * A thread that shares a processor with another thread has more than a hundred
 * preemptions per second, since its time slice is about 3 ms.  The system's own
 * activity causes a few dozen.
 */
#define CONTENDED_MIN 200u
#define CONTENDED_END 30u
#define LOOK_NS	      (NS_PER_SEC / 10)
/*
 * The number of preemptions is read every LOOK_NS.  Only the second reading
 * comes sooner, since many processes live for a short time.  The second reading
 * follows the first one after:
 * - LOOK_FIRST_NS if no threads seem to share processors
 * - LOOK_SHARED_NS if they do; this time is longer because the writer then
 *   wakes up rarely, so that preemptions are rare, too
 */
#define LOOK_FIRST_NS  (NS_PER_SEC / 100)
#define LOOK_SHARED_NS (NS_PER_SEC / 20)
/*
 * The bounds of the writer's sleep while threads share processors.  A writer
 * that sleeps for SLEEP_MAX_NS still wakes up some 60 times per second.  If all
 * processors are busy, each of these wake-ups can preempt a thread.  These
 * preemptions alone can exceed CONTENDED_END, so that threads continue to count
 * as sharing processors.
 */
#define SLEEP_MIN_NS 3500000ull
#define SLEEP_MAX_NS 16000000ull
/* An event has at most this many words, except for rare events. */
#define EVENT_WORDS 3u

void
load_policy_begin(struct load_policy *p, bool is_contended)
{
	p->is_contended = is_contended;
}

void
load_policy_note_waits(struct load_policy *p, uint64_t waits)
{
	if (waits == p->waits)
		p->pressure /= 2;
	else if (p->pressure < PRESSURE_MAX)
		p->pressure++;
	p->waits = waits;
}

void
load_policy_note_compressed(struct load_policy *p, uint64_t ns, size_t nbytes,
			    size_t packed)
{
	if (p->compressed_nbytes > COST_NBYTES) {
		p->compress_ns /= 2;
		p->compressed_nbytes /= 2;
		p->saved_nbytes /= 2;
	}
	p->compress_ns += ns;
	p->compressed_nbytes += nbytes;
	p->saved_nbytes += packed < nbytes ? nbytes - packed : 0;
}

void
load_policy_note_written(struct load_policy *p, uint64_t ns, size_t nbytes)
{
	if (p->written_nbytes > COST_NBYTES) {
		p->write_ns /= 2;
		p->written_nbytes /= 2;
	}
	p->write_ns += ns;
	p->written_nbytes += nbytes;
}

/*
 * Return how many ns longer it takes to compress 'nbytes' and write the result
 * than to write them uncompressed.  Return 0 if it takes no longer, or if
 * compression or writing was never measured.
 */
static uint64_t
compression_excess_ns(const struct load_policy *p, size_t nbytes)
{
	double ns;

	if (p->compressed_nbytes == 0 || p->written_nbytes == 0)
		return 0;
	ns = ((double)p->compress_ns - (double)p->write_ns *
					       (double)p->saved_nbytes /
					       (double)p->written_nbytes) *
	     (double)nbytes / (double)p->compressed_nbytes;
	return ns > 0 ? (uint64_t)ns : 0;
}

bool
load_policy_is_storing(const struct load_policy *p)
{
	return p->is_pressed && compression_excess_ns(p, COST_NBYTES) != 0;
}

/* Decide whether the writer would keep up if it resumed compression. */
static void
judge_load(struct load_policy *p, uint64_t now_ns, size_t nbytes)
{
	const uint64_t wall_ns = now_ns - p->block_ns;

	p->wall_ns += wall_ns;
	p->work_ns += compression_excess_ns(p, nbytes);
	if (p->slept_ns < wall_ns)
		p->work_ns += wall_ns - p->slept_ns;
	if (p->wall_ns < JUDGE_NS)
		return;
	p->is_pressed = p->pressure >= PRESSURE_HIGH ||
			p->work_ns * 100 >= p->wall_ns * LOAD_MAX;
	p->wall_ns = 0;
	p->work_ns = 0;
}

void
load_policy_look(struct load_policy *p, uint64_t now_ns)
{
	const uint64_t passed_ns = now_ns - p->preemptions_read_ns;
	uint64_t preemptions, least;
	struct rusage usage;

	if (passed_ns < p->look_ns || getrusage(RUSAGE_SELF, &usage) != 0)
		return;
	preemptions = (uint64_t)usage.ru_nivcsw - p->preemptions;
	least = p->is_contended ? CONTENDED_END : CONTENDED_MIN;
	p->look_ns = LOOK_NS;
	/*
	 * The first reading decides nothing, because there is no earlier
	 * reading to compare with.
	 */
	if (p->preemptions_read_ns != 0)
		p->is_contended = preemptions * NS_PER_SEC > least * passed_ns;
	else
		p->look_ns = p->is_contended ? LOOK_SHARED_NS : LOOK_FIRST_NS;
	p->preemptions += preemptions;
	p->preemptions_read_ns = now_ns;
}

void
load_policy_end_block(struct load_policy *p, uint64_t now_ns, size_t nbytes)
{
	if (p->is_pressed && p->block_ns != 0)
		judge_load(p, now_ns, nbytes);
	else
		p->is_pressed = p->pressure >= PRESSURE_HIGH;
	p->block_ns = now_ns;
	p->slept_ns = 0;
	load_policy_look(p, now_ns);
}

uint64_t
load_policy_shared_sleep_ns(uint64_t event_count, uint64_t passed_ns,
			    uint64_t room)
{
	double ns;

	if (event_count == 0)
		return SLEEP_MAX_NS;
	ns = (double)passed_ns * (double)room /
	     ((double)event_count * EVENT_WORDS);
	if (ns < (double)SLEEP_MIN_NS)
		return SLEEP_MIN_NS;
	return ns < (double)SLEEP_MAX_NS ? (uint64_t)ns : SLEEP_MAX_NS;
}
