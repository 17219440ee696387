/* SPDX-License-Identifier: MIT */
/*
 * stack_model.h - predict the call stack of the next record
 *
 * A column of stacks (FORMAT "Columns of stacks") stores only the stacks that
 * this model does not predict.  If stack D once followed stacks A, B and C, it
 * often follows them again.  So the model predicts from the last three stacks
 * of the thread.  If it knows no stack that followed these three, it predicts
 * from the last stack alone.
 *
 * Writer and reader use the same code, so their predictions are equal.  The
 * code keeps the rules of encoder.h for code in traced programs.  A model has
 * one owner, who serializes all calls.
 */
#ifndef HATF_STACK_MODEL_H
#define HATF_STACK_MODEL_H

#include "hatf/codec/pairing.h"

#include <string.h>

/*
 * Threads whose numbers are equal modulo STACK_MODEL_THREADS share a row of
 * 'last'.
 */
#define STACK_MODEL_THREADS 16

#define STACK_MODEL_AFTER_THREE_BITS 14
#define STACK_MODEL_AFTER_ONE_BITS   12

/* Ids of stacks in a column are from 1 to UINT32_MAX; 0 is "no stack". */
struct stack_model {
	/*
	 * Two hash tables.  The index is a hash of a thread's last three stacks
	 * ('after_three') or of its last stack ('after_one').  The value is the
	 * stack that came next when the stacks of the index last occurred.
	 */
	uint32_t after_three[1 << STACK_MODEL_AFTER_THREE_BITS];
	uint32_t after_one[1 << STACK_MODEL_AFTER_ONE_BITS];
	/* For each thread, its last three stacks, the latest one first. */
	uint32_t last[STACK_MODEL_THREADS][3];
	/* the latest id that was stored as a difference (STACK_LITERAL) */
	uint32_t literal;
	struct pairing pairing;
	bool has_frees; /* frees have values in the column, too */
};

/*
 * The entries of a model that predict the stack of the next record of a thread.
 */
struct stack_model_place {
	uint32_t *last; /* the last three stacks of the thread */
	uint32_t *after_three, *after_one;
};

/* Forget everything.  A new column starts in this state. */
static inline void
stack_model_init(struct stack_model *m, bool has_frees)
{
	memset(m, 0, sizeof(*m));
	m->has_frees = has_frees;
}

/*
 * Does the column have a value (FORMAT "Columns of stacks") for 'rec', the next
 * record?  The tag of 'rec' is 0 to 10.  Call this once for each record in
 * order, because it notes which records a realloc announces.
 */
static inline bool
stack_model_has_entry(struct stack_model *m, const struct hatf_record *rec)
{
	return pairing_role(&m->pairing, rec) == PAIRING_EVENT &&
	       (rec->tag != HATF_FREE || m->has_frees);
}

static inline struct stack_model_place
stack_model_find(struct stack_model *m, uint64_t thread)
{
	uint32_t *const last = m->last[thread % STACK_MODEL_THREADS];
	const uint32_t one = last[0] * 0x9e3779b1u;
	const uint32_t three =
		one ^ last[1] * 0x85ebca77u ^ last[2] * 0xc2b2ae3du;

	return (struct stack_model_place){
		.last = last,
		.after_three =
			&m->after_three[three >>
					(32 - STACK_MODEL_AFTER_THREE_BITS)],
		.after_one =
			&m->after_one[one >> (32 - STACK_MODEL_AFTER_ONE_BITS)],
	};
}

static inline uint32_t
stack_model_predict(const struct stack_model_place *p)
{
	return *p->after_three != 0 ? *p->after_three : *p->after_one;
}

/* Update the model: the stack of the next record is 'id'. */
static inline void
stack_model_note(const struct stack_model_place *p, uint32_t id)
{
	*p->after_three = id;
	*p->after_one = id;
	p->last[2] = p->last[1];
	p->last[1] = p->last[0];
	p->last[0] = id;
}

#endif /* HATF_STACK_MODEL_H */
