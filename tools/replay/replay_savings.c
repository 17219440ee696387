/* SPDX-License-Identifier: MIT */
/* replay_savings.c - print what the changes of --what-if save */
#include "tools/replay/replay_output.h"
#include "tools/replay/replay_verdict.h"

#include <stdio.h>

/* Print "12.3 MiB less (-4.0 %)", "1.2 MiB more (+0.3 %)" or "the same". */
static void
print_difference(struct out *o, struct figure (*figure)(uint64_t),
		 uint64_t before, uint64_t after)
{
	if (before == after)
		out_str(o, "the same");
	else if (after < before)
		out_printf(o, "%s less", figure(before - after).text);
	else
		out_printf(o, "%s more", figure(after - before).text);
	if (before != after && before != 0)
		out_printf(o, " (%+.1f %%)",
			   ((double)after - (double)before) * 100 /
				   (double)before);
}

/* Print how the changes affect the trace. */
static void
print_changes(struct out *o, const struct what_if_counts *n)
{
	if (n->rounded_nbytes != 0)
		out_printf(o, "  bytes added by rounding: %s\n",
			   figure_nbytes(n->rounded_nbytes).text);
	if (n->dropped_calls != 0)
		out_printf(o, "  dropped calls: %s; bytes they allocate: %s\n",
			   figure_count(n->dropped_calls).text,
			   figure_nbytes(n->dropped_nbytes).text);
	if (n->pooled_calls != 0)
		out_printf(o,
			   "  pooled calls: %s; bytes they allocate: %s; "
			   "chunks of 64 KiB: %s\n",
			   figure_count(n->pooled_calls).text,
			   figure_nbytes(n->pooled_nbytes).text,
			   figure_count(n->chunks).text);
}

static void
print_measure(struct out *o, const char *what, enum replay_measure m,
	      const struct replay_column *before,
	      const struct replay_column *after)
{
	const struct replay_spread *const a = &before->measures[m];
	const struct replay_spread *const b = &after->measures[m];

	out_printf(o, "%s ", what);
	if (a->is_too_short || b->is_too_short)
		out_str(o, "too short");
	else if (verdict_equals(a, b))
		out_str(o, "equal (within the spread of the runs, or 1 %)");
	else
		print_difference(o,
				 m == REPLAY_WALL ? figure_ns : figure_nbytes,
				 a->median, b->median);
}

void
replay_print_savings(struct out *o, const struct replay_view *view)
{
	const struct replay_view *const old = view->original;
	const char *const end = view->markdown ? "\n\n" : "\n";

	out_printf(o, "\nWhat if ");
	out_text(o, view->what_if);
	out_str(o, view->markdown ? ":\n\n" : ":\n");
	if (what_if_did_nothing(&view->compiled->changes) &&
	    old->compiled->thread_count == view->compiled->thread_count) {
		out_printf(o,
			   "  no difference: --what-if changes no call of the "
			   "trace%s",
			   end);
		return;
	}
	print_changes(o, &view->compiled->changes);
	out_str(o, "  calls: ");
	print_difference(o, figure_count, old->compiled->calls,
			 view->compiled->calls);
	out_str(o, "; most live bytes: ");
	print_difference(o, figure_nbytes, old->compiled->peak_nbytes,
			 view->compiled->peak_nbytes);
	out_str(o, end);
	for (unsigned i = 0; i < view->runs->count; i++) {
		out_str(o, "  ");
		out_text(o, view->runs->columns[i].allocator->label);
		if (old->runs->columns[i].fault[0] != '\0' ||
		    view->runs->columns[i].fault[0] != '\0') {
			out_printf(o, ": failed%s", end);
			continue;
		}
		if (!verdict_is_ranked(old->runs, i) ||
		    !verdict_is_ranked(view->runs, i)) {
			out_printf(o, ": not compared, because calls failed%s",
				   end);
			continue;
		}
		print_measure(o, ": time", REPLAY_WALL, &old->runs->columns[i],
			      &view->runs->columns[i]);
		print_measure(o, "; peak RSS", REPLAY_PEAK_RSS,
			      &old->runs->columns[i], &view->runs->columns[i]);
		out_str(o, end);
	}
	if (view->runs->repeat == 1)
		out_printf(o, "  (1 run, so the spread is unknown)%s", end);
}
