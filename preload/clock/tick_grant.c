/* SPDX-License-Identifier: MIT */
/* tick_grant.c - see tick_grant.h */

#include "preload/clock/tick_grant.h"

#include <stddef.h>

#include "preload/clock/clock.h"

#define PATIENCE_MIN_NS 2000000ull
#define PATIENCE_MAX_NS 256000000ull

/*
 * A grant that lasted more than LASTED_WELL times the patience halves the
 * patience.  A grant that lasted less than LASTED_BADLY times the patience
 * doubles the patience.
 */
#define LASTED_WELL  16u
#define LASTED_BADLY 4u

void
tick_grant_init(struct tick_grant *g)
{
	*g = (struct tick_grant){ .patience_ns = PATIENCE_MIN_NS };
}

/* Adapt the patience to a grant that was revoked after 'lasted_ns'. */
static void
learn(struct tick_grant *g, uint64_t lasted_ns)
{
	if (lasted_ns < LASTED_BADLY * g->patience_ns &&
	    g->patience_ns < PATIENCE_MAX_NS)
		g->patience_ns *= 2;
	if (lasted_ns > LASTED_WELL * g->patience_ns &&
	    g->patience_ns > PATIENCE_MIN_NS)
		g->patience_ns /= 2;
	g->granted_ns = 0;
}

void
tick_grant_end_round(struct tick_grant *g, const void *alone, uint64_t now_ns)
{
	const bool stamped = clock_is_stamped();

	if (g->granted_ns != 0 && stamped) {
		/*
		 * If the grant did not last one whole round, count it as 0 ns,
		 * because a round may be longer than the patience.
		 */
		learn(g, g->rounds != 0 ? now_ns - g->granted_ns : 0);
		g->candidate = NULL;
	} else if (g->granted_ns != 0) {
		g->rounds++;
	}
	if (alone == NULL || alone != g->candidate) {
		g->candidate = alone;
		g->since_ns = now_ns;
		return;
	}
	if (stamped && now_ns - g->since_ns >= g->patience_ns &&
	    clock_grant_begin(alone) && clock_grant_end()) {
		g->granted_ns = now_ns;
		g->rounds = 0;
	}
}
