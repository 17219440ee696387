/* SPDX-License-Identifier: MIT */
/* replay_json.c - the runs of a replay as one JSON object */
#include "tools/replay/replay_output.h"
#include "tools/replay/replay_verdict.h"
#include "tools/ui/json.h"

#include <math.h>

/* Return one of the figures of a spread; null if it is unknown. */
static json_t *
figure_json(const struct replay_spread *s, uint64_t figure)
{
	return s->is_too_short ? json_null() : json_u64(figure);
}

static json_t *
spread_json(const struct replay_column *column, unsigned m, unsigned repeat)
{
	const struct replay_spread *const s = &column->measures[m];
	json_t *const runs = json_array();

	for (unsigned i = 0; i < repeat; i++)
		json_array_append_new(runs, json_u64(column->figures[i][m]));
	return json_pack("{s:o, s:o, s:o, s:o}", "median",
			 figure_json(s, s->median), "min",
			 figure_json(s, s->min), "max", figure_json(s, s->max),
			 "measured", runs);
}

/* Return the latencies of each kind of call, in ns. */
static json_t *
latencies_json(const struct replay_column *column)
{
	json_t *const object = json_object();

	for (unsigned k = 0; k < LATENCY_KINDS; k++) {
		const struct latency *const l = &column->latencies[k];
		json_t *const points = json_object();

		json_object_set_new(points, "calls", json_u64(l->count));
		for (unsigned i = 0; i < LATENCY_POINTS; i++)
			json_object_set_new(points, latency_point_words[i],
					    json_real(l->points[i]));
		json_object_set_new(object, latency_kind_words[k], points);
	}
	return object;
}

/* Return an array of the values that one field has in all samples. */
static json_t *
samples_json(const struct replay_column *column, unsigned count, size_t offset)
{
	json_t *const values = json_array();

	for (unsigned i = 0; i < count; i++) {
		const char *const sample = (const char *)&column->samples[i];

		json_array_append_new(
			values, json_u64(*(const uint64_t *)(sample + offset)));
	}
	return values;
}

/*
 * Return the number of calls before each sample, and the live bytes at each
 * sample.
 */
static json_t *
history_json(const struct replay_runs *runs)
{
	json_t *const calls = json_array();

	for (unsigned i = 0; i < runs->sample_count; i++)
		json_array_append_new(calls,
				      json_u64((i + 1) * runs->sample_step));
	return json_pack(
		"{s:o, s:o}", "calls", calls, "live_bytes",
		samples_json(&runs->null, runs->sample_count,
			     offsetof(struct lane_sample, live_nbytes)));
}

/* Return the allocator's own statistics; null if it has none. */
static json_t *
own_json(const struct replay_column *column)
{
	const struct {
		const char *key;
		uint64_t value;
	} members[] = {
		{ "used_bytes", column->own.used_nbytes },
		{ "mapped_bytes", column->own.mapped_nbytes },
		{ "arenas", column->own.arenas },
	};
	json_t *object;

	if (column->own_source[0] == '\0')
		return json_null();
	object = json_object();
	json_object_set_new(object, "source", json_text(column->own_source));
	for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++)
		json_object_set_new(object, members[i].key,
				    members[i].value == OWN_STATS_UNKNOWN
					    ? json_null()
					    : json_u64(members[i].value));
	return object;
}

/*
 * Return the peak RSS divided by the largest number of live bytes; null if it
 * is unknown.
 */
static json_t *
live_ratio_json(const struct replay_runs *runs, unsigned idx)
{
	const double ratio = verdict_live_ratio(runs, idx);

	return isnan(ratio) ? json_null() : json_real(ratio);
}

static json_t *
column_json(const struct replay_column *column, const char *name,
	    const struct replay_runs *runs)
{
	const unsigned repeat = runs->repeat;
	json_t *const object = json_object();

	json_object_set_new(object, "allocator", json_text(name));
	json_object_set_new(object, "error",
			    column->fault[0] != '\0' ? json_text(column->fault)
						     : json_null());
	if (column->fault[0] != '\0')
		return object;
	json_object_set_new(object, "library", json_text(column->library));
	json_object_set_new(object, "failed", json_u64(column->failed));
	for (unsigned m = 0; m < REPLAY_MEASURES; m++)
		json_object_set_new(object, replay_measure_words[m],
				    spread_json(column, m, repeat));
	/*
	 * Only the null allocator has the key "busiest", the time that 'hatf
	 * replay' subtracts from the wall time of each allocator.
	 */
	if (column->allocator == NULL)
		json_object_set_new(
			object, "busiest",
			spread_json(column, REPLAY_BUSIEST, repeat));
	else
		json_object_set_new(
			object, "peak_rss_per_live_byte",
			live_ratio_json(runs,
					(unsigned)(column - runs->columns)));
	json_object_set_new(object, "peak_asked_bytes",
			    json_u64(column->asked_nbytes));
	json_object_set_new(object, "peak_usable_bytes",
			    json_u64(column->usable_nbytes));
	json_object_set_new(object, "own", own_json(column));
	json_object_set_new(object, "latency_ns", latencies_json(column));
	if (runs->is_sampled)
		json_object_set_new(
			object, "history_rss",
			samples_json(column, runs->sample_count,
				     offsetof(struct lane_sample, rss_nbytes)));
	return object;
}

/* Return the labels of the best allocators, the best one first. */
static json_t *
best_json(const struct replay_runs *runs, enum replay_measure m)
{
	const unsigned best = verdict_best(runs, m);
	json_t *const labels = json_array();

	json_array_append_new(labels,
			      json_text(runs->columns[best].allocator->label));
	for (unsigned i = 0; i < runs->count; i++)
		if (i != best && verdict_is_equal(runs, m, best, i))
			json_array_append_new(
				labels,
				json_text(runs->columns[i].allocator->label));
	return labels;
}

void
replay_set_trace(json_t *object, const struct replay_view *view)
{
	const struct compiled *const c = view->compiled;
	const struct {
		const char *key;
		uint64_t value;
	} members[] = {
		{ "calls", c->calls },
		{ "mallocs", c->mallocs },
		{ "callocs", c->callocs },
		{ "memaligns", c->memaligns },
		{ "reallocs", c->reallocs },
		{ "frees", c->frees },
		{ "handovers", c->handovers },
		{ "threads", c->thread_count },
		{ "threads_at_once", c->peak_threads },
		{ "slots", c->slot_count },
		{ "peak_bytes", c->peak_nbytes },
		{ "peak_blocks", c->peak_count },
		{ "end_bytes", c->end_nbytes },
		{ "end_blocks", c->end_count },
		{ "begin_bytes", c->built_nbytes },
		{ "begin_blocks", c->built_count },
		{ "left_out_failed", c->failed },
		{ "left_out_unknown", c->unknown },
		{ "left_out_pools", c->pooled },
		{ "missing_frees", c->replaced },
	};

	json_object_set_new(object, "file", json_text(view->path));
	json_object_set_new(object, "complete", json_boolean(c->fault == NULL));
	for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++)
		json_object_set_new(object, members[i].key,
				    json_u64(members[i].value));
}

/*
 * Return the changes of --what-if, and the figures of the trace without them.
 */
static json_t *
what_if_json(const struct replay_view *view)
{
	const struct what_if_counts *const n = &view->compiled->changes;

	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "changes",
			 json_text(view->what_if), "rounded_bytes",
			 json_u64(n->rounded_nbytes), "dropped_calls",
			 json_u64(n->dropped_calls), "dropped_bytes",
			 json_u64(n->dropped_nbytes), "pooled_calls",
			 json_u64(n->pooled_calls), "pooled_bytes",
			 json_u64(n->pooled_nbytes), "pool_chunks",
			 json_u64(n->chunks), "original",
			 replay_json(view->original));
}

json_t *
replay_json(const struct replay_view *view)
{
	const struct replay_runs *const runs = view->runs;
	json_t *const object = json_object();
	json_t *const columns = json_array();
	json_t *const best = json_object();

	replay_set_trace(object, view);
	for (unsigned i = 0; i < runs->count; i++)
		json_array_append_new(
			columns,
			column_json(&runs->columns[i],
				    runs->columns[i].allocator->label, runs));
	for (unsigned m = 0; m < REPLAY_RANKED; m++)
		json_object_set_new(best, replay_measure_words[m],
				    best_json(runs, (enum replay_measure)m));
	json_object_set_new(object, "repeat", json_u64(runs->repeat));
	json_object_set_new(object, "driver",
			    column_json(&runs->null, "null", runs));
	json_object_set_new(object, "allocators", columns);
	json_object_set_new(object, "best", best);
	json_object_set_new(object, "what_if",
			    view->what_if != NULL ? what_if_json(view)
						  : json_null());
	json_object_set_new(object, "history",
			    runs->is_sampled ? history_json(runs)
					     : json_null());
	return object;
}

bool
replay_print_json(struct out *o, const struct replay_view *view)
{
	return json_print(o, replay_json(view), REPLAY_JSON_KEYS);
}
