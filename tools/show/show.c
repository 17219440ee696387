/* SPDX-License-Identifier: MIT */
/* show.c - see show.h */
#include "tools/show/show.h"

#include "tools/trace/trailer.h"
#include "tools/ui/cut.h"
#include "tools/ui/figure.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* ----------------------------------------------------------------- terminal */

static bool
has_colours(void)
{
	const char *const no = getenv("NO_COLOR");
	const char *const term = getenv("TERM");

	return isatty(STDOUT_FILENO) && (no == NULL || no[0] == '\0') &&
	       term != NULL && strcmp(term, "dumb") != 0;
}

static void
print_coloured(struct out *o, const char *colour, const char *text)
{
	const bool is_coloured = has_colours();

	if (is_coloured)
		out_printf(o, "\033[%sm", colour);
	out_str(o, text);
	if (is_coloured)
		out_str(o, "\033[0m");
}

void
show_heading(struct out *o, const char *text)
{
	print_coloured(o, "1", text);
}

void
show_warning(struct out *o, const char *text)
{
	print_coloured(o, "31", text);
}

/*
 * Return the columns of the terminal; 0 if standard output is not a terminal.
 */
static unsigned
columns(void)
{
	struct winsize size;

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0)
		return 0;
	return size.ws_col;
}

bool
show_cut(const char *name, size_t fits, size_t *head_ret, size_t *tail_ret)
{
	const size_t nbytes = strlen(name);
	const size_t head = (fits - 3) / 2;
	const size_t tail = nbytes - (fits - 3 - head);

	if (nbytes <= fits)
		return false;
	/*
	 * Keep the end of the name, which contains file and line.  Cut before a
	 * character, not inside it.
	 */
	*head_ret = cut_before(name, head);
	*tail_ret = cut_after(name, tail);
	return true;
}

/* Write a name; cut its middle if it is longer than 'fits' bytes. */
static void
put_cut(struct out *o, const char *name, size_t fits)
{
	size_t head, tail;

	if (!show_cut(name, fits, &head, &tail)) {
		out_str(o, name);
		return;
	}
	out_bytes(o, name, head);
	out_str(o, "...");
	out_str(o, name + tail);
}

void
show_name(struct out *o, const char *name, unsigned used)
{
	const unsigned width = columns();

	if (width == 0)
		out_str(o, name);
	else
		put_cut(o, name, width > used + 20 ? width - used : 20);
}

void
show_called(struct out *o, const char *name, const char *caller, bool is_direct,
	    unsigned used)
{
	const char *const sign = is_direct ? " < " : " <.. ";
	const size_t name_nbytes = strlen(name);
	size_t rest;

	if (caller == NULL) {
		show_name(o, name, used);
		return;
	}
	/* If the line is too long, shorten the caller first, to 20 bytes. */
	rest = strlen(caller);
	if (columns() != 0 &&
	    used + name_nbytes + strlen(sign) + rest > columns() && rest > 20)
		rest = 20;
	show_name(o, name, used + (unsigned)(strlen(sign) + rest));
	out_str(o, sign);
	put_cut(o, caller, rest > 20 ? rest : 20);
}

static bool
has_utf8(void)
{
	static const char *const names[] = { "LC_ALL", "LC_CTYPE", "LANG" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const char *const locale = getenv(names[i]);

		if (locale != NULL && locale[0] != '\0')
			return strcasestr(locale, "UTF-8") != NULL ||
			       strcasestr(locale, "utf8") != NULL;
	}
	return false;
}

void
show_bars(struct out *o, const uint64_t *values, size_t count, uint64_t max)
{
	static const char *const bars[] = { " ",      "\u2581", "\u2582",
					    "\u2583", "\u2584", "\u2585",
					    "\u2586", "\u2587", "\u2588" };
	const bool utf8 = has_utf8();
	const unsigned top = utf8 ? 8 : 9;

	for (size_t i = 0; i < count; i++) {
		const double part =
			max == 0 ? 0 : (double)values[i] / (double)max;
		unsigned level = (unsigned)(part * top + 0.5);

		/*
		 * Show any value that is not 0 as a bar of at least the lowest
		 * level.
		 */
		if (level == 0 && values[i] != 0)
			level = 1;
		if (level > top)
			level = top;
		if (utf8)
			out_str(o, bars[level]);
		else
			out_u64(o, level);
	}
}

/* ------------------------------------------------------------------ figures */

struct figure
show_part(uint64_t part, uint64_t whole)
{
	const double percent =
		whole == 0 ? 0 : 100 * (double)part / (double)whole;
	struct figure f;

	snprintf(f.text, sizeof(f.text), percent < 9.95 ? "%.1f %%" : "%.0f %%",
		 percent);
	return f;
}

static struct figure
show_units(const struct census *c, uint64_t units)
{
	uint64_t ns;

	if (__builtin_mul_overflow(units, c->unit_ns, &ns))
		ns = UINT64_MAX;
	return figure_ns(ns);
}

static struct figure
show_events(uint64_t n)
{
	const struct figure count = figure_count(n);
	struct figure f;

	snprintf(f.text, sizeof(f.text), "%.22s event%s", count.text,
		 figure_plural(n));
	return f;
}

struct figure
show_distance(const struct census *c, uint64_t distance)
{
	return c->has_times ? show_units(c, distance) : show_events(distance);
}

/* Return the time from the first event of the trace to a moment. */
static uint64_t
time_of(const struct census *c, const struct moment *m)
{
	return m->time > c->axis_start ? m->time - c->axis_start : 0;
}

struct figure
show_moment(const struct census *c, const struct moment *m)
{
	return c->has_times ? show_units(c, time_of(c, m))
			    : show_events(m->event);
}

/* An age as text. */
struct age_text {
	char text[48];
};

/* What is known about an age. */
enum age_kind {
	AGE_EXACT,
	AGE_MIN, /* only a lower bound: the block is older than the trace */
	AGE_MAX, /* an upper bound */
};

/*
 * Return the text of an age, for a clock whose ticks are up to 'tick_ns' long.
 * The time of the allocation and the time of the last event may each be too
 * early by a tick, so the age may be wrong by a tick.  Show a multiple of the
 * largest power of ten that is at most a tick: for a tick of 4 ms, whole
 * milliseconds.
 */
static struct age_text
coarse_age(uint64_t ns, uint64_t tick_ns, enum age_kind kind)
{
	static const char *const words[] = {
		[AGE_EXACT] = "",
		[AGE_MIN] = "more than ",
		[AGE_MAX] = "less than ",
	};
	struct age_text age = { "unknown" };
	uint64_t unit_ns = 1;

	while (unit_ns <= tick_ns / 10)
		unit_ns *= 10;
	if (kind == AGE_MIN && ns < tick_ns)
		return age;
	if (kind == AGE_MIN)
		ns -= tick_ns;
	else if (kind == AGE_MAX)
		ns += tick_ns + unit_ns - 1;
	else if (ns <= UINT64_MAX - unit_ns)
		ns += unit_ns / 2;
	snprintf(age.text, sizeof(age.text), "%s%s", words[kind],
		 figure_ns_to(ns - ns % unit_ns, unit_ns).text);
	return age;
}

static uint64_t
age_ns(const struct census *c, const struct age *age)
{
	uint64_t ns;

	return __builtin_mul_overflow(age->time, c->unit_ns, &ns) ? UINT64_MAX
								  : ns;
}

/*
 * Return an age as text.  'is_least': the block is older than the trace, so its
 * age is only a lower bound.
 */
static struct age_text
age_text(const struct census *c, const struct age *age, bool is_least)
{
	struct age_text text;

	if (c->has_times && c->tick_us != 0)
		return coarse_age(age_ns(c, age), c->tick_us * 1000,
				  is_least ? AGE_MIN : AGE_EXACT);
	snprintf(text.text, sizeof(text.text), "%s%s",
		 is_least ? "more than " : "",
		 c->has_times ? show_units(c, age->time).text
			      : show_events(age->events).text);
	return text;
}

/* Is the age less than a tick of the trace's clock? */
static bool
is_short(const struct census *c, const struct age *age)
{
	return c->has_times && age_ns(c, age) < c->tick_us * 1000;
}

void
show_ages(struct out *o, const struct census *c, const struct ages *ages,
	  bool has_median)
{
	const uint64_t older = ages->older_count;
	struct age_text newest, oldest;

	out_str(o, "age ");
	if (older == ages->count) {
		if ((c->has_times ? ages->oldest.time : ages->oldest.events) ==
		    0)
			out_str(o, "unknown");
		else
			out_str(o, age_text(c, &ages->oldest, true).text);
		return;
	}
	if (older == 0 && is_short(c, &ages->oldest)) {
		out_str(o, coarse_age(age_ns(c, &ages->oldest),
				      c->tick_us * 1000, AGE_MAX)
				   .text);
		return;
	}
	newest = age_text(c, &ages->newest, false);
	oldest = age_text(c, &ages->oldest, older != 0);
	out_str(o, newest.text);
	if ((has_median && ages->count == 1) ||
	    (c->tick_us != 0 && strcmp(newest.text, oldest.text) == 0))
		return;
	out_printf(o, " to %s", oldest.text);
	if (!has_median)
		return;
	out_str(o, ", median ");
	out_str(o,
		age_text(c, &ages->median, older > (ages->count - 1) / 2).text);
}

/* --------------------------------------------------------------------- JSON */

json_t *
show_json_ns(const struct census *c, uint64_t units)
{
	uint64_t ns;

	if (!c->has_times)
		return json_null();
	if (__builtin_mul_overflow(units, c->unit_ns, &ns))
		ns = UINT64_MAX;
	return json_u64(ns);
}

json_t *
show_json_tick(const struct census *c)
{
	return c->has_times && c->tick_us != 0 ? json_u64(c->tick_us * 1000)
					       : json_null();
}

json_t *
show_json_moment(const struct census *c, const struct moment *m)
{
	return json_pack("{s:o, s:o}", "event", json_u64(m->event), "ns",
			 show_json_ns(c, time_of(c, m)));
}

json_t *
show_json_amount(const struct amount *a)
{
	return json_pack("{s:o, s:o}", "blocks", json_u64(a->count), "bytes",
			 json_u64(a->nbytes));
}

json_t *
show_json_age(const struct census *c, const struct age *age)
{
	return json_pack("{s:o, s:o}", "events", json_u64(age->events), "ns",
			 show_json_ns(c, age->time));
}

json_t *
show_json_account(const struct census *c, const struct account *a)
{
	const struct amount at_peak = account_at_peak(a, c->epoch);

	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "at_peak",
			 show_json_amount(&at_peak), "at_end",
			 show_json_amount(&a->live), "allocated",
			 show_json_amount(&a->allocated), "freed",
			 show_json_amount(&a->freed), "temporary",
			 show_json_amount(&a->temporary), "moved",
			 show_json_amount(&a->moved), "resized_in_place",
			 json_u64(a->in_place));
}

/* ------------------------------------------------------------------- health */

/* Return the statistics of hatf_events_get_stats() for the whole trace. */
static struct hatf_events_stats
get_seen(const struct gathering *g)
{
	struct hatf_events_stats seen = { .struct_nbytes = sizeof(seen) };

	hatf_events_get_stats(g->scan.events, &seen);
	return seen;
}

static uint64_t
lost_count(const struct gathering *g)
{
	struct hatf_reader_stats stats = { .struct_nbytes = sizeof(stats) };

	hatf_reader_get_stats(g->scan.reader, &stats);
	return stats.lost_count;
}

static void
print_fact(struct out *o, const char *prefix, uint64_t n, const char *text)
{
	char line[128];

	if (n == 0)
		return;
	snprintf(line, sizeof(line), "%s: %s", text, figure_count(n).text);
	out_str(o, prefix);
	show_warning(o, line);
	out_str(o, "\n");
}

void
show_doubts(struct out *o, const struct gathering *g, const char *prefix)
{
	const struct census *const c = g->census;
	const char *const heritage = scan_unknown_heritage(&g->scan);
	const char *const start = scan_unknown_start(&g->scan);

	print_fact(o, prefix, lost_count(g), "events lost while recording");
	print_fact(o, prefix, get_seen(g).violation_count,
		   "events that contradict others ('hatf verify' lists them)");
	if (!scan_began_late(&g->scan))
		print_fact(o, prefix, c->unknown_frees,
			   "frees of unknown blocks");
	print_fact(o, prefix, c->replaced.count,
		   "live blocks whose address was allocated again");
	print_fact(o, prefix, c->undefined_stacks,
		   "calls with an undefined stack");
	print_fact(o, prefix, c->bad_definitions,
		   "malformed definitions of frames and stacks");
	print_fact(o, prefix, c->wrapped_sums,
		   "blocks whose size made a sum overflow (the sum is wrong)");
	if (heritage != NULL)
		out_printf(o, "%sblocks of the parent process: %s\n", prefix,
			   heritage);
	if (start != NULL)
		out_printf(o, "%s%s\n", prefix, start);
}

void
show_late_start(struct out *o, const struct gathering *g, const char *prefix)
{
	if (scan_began_late(&g->scan) && scan_unknown_start(&g->scan) == NULL)
		out_printf(o,
			   "%sthe trace began while the program was running, "
			   "and lacks the blocks that were live then\n",
			   prefix);
}

void
show_health(struct out *o, const struct gathering *g)
{
	if (g->fault != NULL) {
		out_str(o, "  ");
		show_warning(o, "not complete: ");
		out_text(o, g->fault);
		out_str(o, "\n");
	} else {
		out_str(o, "  complete\n");
	}
	print_fact(o, "  ", g->census->failed_calls, "failed calls");
	if (scan_began_late(&g->scan))
		print_fact(o, "  ", g->census->unknown_frees,
			   "frees of blocks from before the trace");
	show_late_start(o, g, "  ");
	show_doubts(o, g, "  ");
}

const char *
show_doubt(const struct gathering *g)
{
	if (scan_unknown_heritage(&g->scan) != NULL)
		return "some blocks from before the trace are unknown "
		       "(--no-parent leaves out all blocks from before the "
		       "trace)";
	if (scan_unknown_start(&g->scan) != NULL)
		return scan_unknown_start(&g->scan);
	if (g->census->wrapped_sums != 0)
		return "a sum of bytes exceeds 64 bits";
	if (get_seen(g).violation_count != 0)
		return "events contradict others ('hatf verify' lists them)";
	return NULL;
}

json_t *
show_json_health(const struct gathering *g)
{
	const struct census *const c = g->census;
	const struct hatf_events_stats seen = get_seen(g);

	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o,"
			 " s:o}",
			 "complete", json_boolean(g->fault == NULL), "fault",
			 json_text(g->fault), "lost", json_u64(lost_count(g)),
			 "violations", json_u64(seen.violation_count),
			 "unknown_frees", json_u64(c->unknown_frees),
			 "replaced", show_json_amount(&c->replaced),
			 "failed_calls", json_u64(c->failed_calls),
			 "undefined_stacks", json_u64(c->undefined_stacks),
			 "bad_definitions", json_u64(c->bad_definitions),
			 "wrapped_sums", json_u64(c->wrapped_sums), "heritage",
			 json_heritage(seen.heritage));
}

/* Return true if any frame has a function's name, or if there are no frames. */
static bool
has_functions(const struct hatf_stacks *stacks)
{
	const uint64_t count = hatf_stacks_frame_count(stacks);
	struct hatf_frame f;

	/*
	 * Our recorder numbers frames from 1, so try all ids up to the number
	 * of frames.  A name in brackets is not a function, but stands for
	 * missing frames.
	 */
	for (uint64_t id = 1; id <= count; id++)
		if (hatf_stacks_get_frame(stacks, id, &f) &&
		    f.function != NULL && f.function[0] != '[')
			return true;
	return count == 0;
}

/*
 * May 'hatf symbolize' replace the trace?  Not if a process is still writing
 * the trace, if the copy would lack something, or if the trace is in a format
 * of another program, because the copy is in HATF.
 */
static bool
can_be_replaced(const struct scan *s)
{
	struct hatf_reader_stats stats = { .struct_nbytes = sizeof(stats) };

	hatf_reader_get_stats(s->reader, &stats);
	return !stats.foreign &&
	       (s->status == HATF_OK || s->status == HATF_END) &&
	       trailer_can_be_copied(s->reader);
}

const char *
show_advice(const struct gathering *g)
{
	const bool is_snapshot =
		hatf_reader_header(g->scan.reader, "snapshot_of") != NULL;

	if (!groups_has_stacks(g->census) && is_snapshot)
		return g->census->total.live.count == 0
			       ? NULL
			       : "no block of this snapshot has a call stack, "
				 "so threads and sizes stand for call sites: "
				 "'hatf record' without -G takes call stacks";
	if (!groups_has_blocks(g->census))
		return g->census->event_count == 0
			       ? "the trace has no events"
			       : "no allocations, so there are no call sites";
	if (!groups_has_stacks(g->census))
		return "no call stacks, so threads and sizes stand for call "
		       "sites: 'hatf record' without -G takes call stacks";
	if (has_functions(g->census->stacks))
		return NULL;
	return can_be_replaced(&g->scan)
		       ? "no function names: 'hatf symbolize FILE' adds them"
		       : "no function names: 'hatf symbolize -o NEW FILE' "
			 "writes a copy with them";
}

static void
append_frame(void *ctx, const char *frame)
{
	json_array_append_new(ctx, json_text(frame));
}

json_t *
show_json_frames(struct site_names *names, uint64_t stack)
{
	json_t *const frames = json_array();

	site_names_walk(names, stack, append_frame, frames);
	return frames;
}
