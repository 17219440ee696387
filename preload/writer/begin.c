/* SPDX-License-Identifier: MIT */
/* begin.c - see begin.h */

#include "preload/writer/begin.h"

#include "preload/clock/clock.h"
#include "preload/config/environment.h"
#include "preload/config/follow.h"
#include "preload/config/note_writer.h"
#include "preload/record/memory_limit.h"
#include "preload/record/record.h"
#include "preload/record/ringfile.h"
#include "preload/record/thread.h"
#include "preload/state/process_state.h"
#include "preload/sys/memory.h"
#include "preload/sys/say.h"
#include "preload/trace/output.h"
#include "preload/writer/writer.h"

MEMORY_LARGE static struct output output;
static struct header_parent parent;

/*
 * Note that the reason for not tracing has been reported (PROCESS_IS_REFUSED),
 * so that children of this process do not report the reason again.  Return
 * false.
 */
static bool
refuse(void)
{
	process_move(PROCESS_REFUSED);
	return false;
}

/*
 * May this process be traced?  Finding the executable's name takes time, so
 * find it only if a setting needs the name.
 */
static bool
is_followed(void)
{
	const struct follow *const f = &environment_own()->follow;

	return follow_allows(f, f->has_globs ? header_names()->exe : NULL);
}

void
begin_notes(void)
{
	if (note_writer_init(header_environment()))
		note_writer_set_exe(header_names()->exe);
}

bool
begin_read(void)
{
	if (process_has(PROCESS_IS_REFUSED))
		return false;
	begin_notes();
	if (!environment_read_own(header_environment()))
		return refuse();
	return is_followed();
}

/*
 * Approximate size of the pool of threads, the writer thread's stack and
 * smaller mappings.
 */
#define SUNDRY_NBYTES ((size_t)1 << 20)

/*
 * Does a memory limit leave enough memory for both the program and the
 * recorder?
 */
static bool
can_afford(bool is_first, bool is_dormant)
{
	const size_t shared_nbytes =
		is_dormant ? 0
			   : ring_nbytes(environment_own()->initial_ring_words);

	if (!memory_limit_exists())
		return true;
	/*
	 * The child of a fork already has all these mappings except the ring,
	 * so the child needs memory only for a ring.
	 */
	return memory_limit_allows(
		is_first ? writer_memory_nbytes(environment_own()) +
				   SUNDRY_NBYTES
			 : 0,
		shared_nbytes);
}

/* Record no call stacks if their tables do not fit under a memory limit. */
static void
judge_stacks(bool is_first)
{
	if (!is_first || environment_own()->stack_depth == 0 ||
	    !memory_limit_exists() ||
	    memory_limit_allows(
		    writer_memory_nbytes(environment_own()) + SUNDRY_NBYTES +
			    record_stacks_nbytes(),
		    ring_nbytes(environment_own()->initial_ring_words)))
		return;
	environment_forgo_stacks();
	say("RLIMIT_AS or RLIMIT_DATA leaves too little memory for call "
	    "stacks; recording without them");
}

static bool
fail(void)
{
	say("out of memory; not tracing");
	return false;
}

bool
begin_reserve(const struct header_parent *its_parent, bool is_first,
	      bool is_dormant)
{
	if (!is_first)
		memory_begin_child();
	if (!can_afford(is_first, is_dormant)) {
		say("RLIMIT_AS or RLIMIT_DATA leaves too little memory; not "
		    "tracing");
		return refuse();
	}
	judge_stacks(is_first);
	if (!record_init_stacks(environment_own()->stack_depth,
				environment_own()->stack_frees))
		say("HATFTRACE_STACKS: no memory for the tables of call "
		    "stacks; recording without stacks");
	if (!thread_pool_init(environment_own()->initial_ring_words,
			      environment_own()->ring_words,
			      !environment_own()->drop))
		return fail();
	/*
	 * Initialize the output now, because a relative name starts from the
	 * working directory that the program has at its start.
	 */
	output_init(&output, environment_own()->out,
		    environment_own()->rotate_nbytes != 0 ||
			    environment_own()->rotate_ns != 0);
	parent = *its_parent;
	header_note_allocator();
	return writer_reserve(environment_own(), !is_first, is_dormant) ||
	       fail();
}

bool
begin_prepare(void)
{
	if (writer_is_prepared())
		return true;
	clock_init(environment_own()->clock == CONFIG_CLOCK_US ||
		   environment_own()->clock == CONFIG_CLOCK_NS);
	if (!ringfile_init(environment_own()))
		return fail();
	output.names = header_names();
	if (!writer_prepare(environment_own(), &output))
		return fail();
	header_build(environment_own(), &parent, writer_start_ns());
	/*
	 * Set the clock idle, since there is no writer thread yet that renews
	 * the tick (clock.h).
	 */
	clock_set_idle();
	return true;
}
