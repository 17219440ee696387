/* SPDX-License-Identifier: MIT */
/* missed_calls.c - see missed_calls.h */

#include "preload/record/missed_calls.h"

#include <stdatomic.h>
#include <stddef.h>

#include "hatf/codec/comment_text.h"
#include "preload/config/note_writer.h"
#include "preload/sys/say.h"

/*
 * Maximum length of the note's sentence, in bytes.  It suffices for most paths.
 * A sentence of this length still fits into a line of the trailer.
 */
#define SENTENCE_MAX_NBYTES 200u

enum note_state {
	NONE,
	WRITING,
	NOTED
};

static char sentence[SENTENCE_MAX_NBYTES];
static _Atomic uint32_t state; /* a value of enum note_state */

/*
 * Was the note reported?  Only the writer uses this flag; the child of a fork
 * inherits it.
 */
static bool is_said;

void
missed_calls_note(const char *object, const char *why)
{
	uint32_t none = NONE;
	struct text t;

	/*
	 * relaxed: only the first note is kept, and the release store below
	 * publishes it.
	 */
	if (!atomic_compare_exchange_strong_explicit(&state, &none, WRITING,
						     memory_order_relaxed,
						     memory_order_relaxed))
		return;
	text_init(&t, sentence, sizeof(sentence) - 1);
	text_str(&t, object[0] != '\0' ? object : "the program");
	text_str(&t, why);
	sentence[t.used] = '\0';
	/* release: pairs with the acquire in missed_calls_text(). */
	atomic_store_explicit(&state, NOTED, memory_order_release);
}

const char *
missed_calls_text(void)
{
	/* acquire: pairs with the release in missed_calls_note(). */
	return atomic_load_explicit(&state, memory_order_acquire) == NOTED
		       ? sentence
		       : NULL;
}

void
missed_calls_report(const char *path)
{
	const char *const text = missed_calls_text();

	if (is_said || text == NULL)
		return;
	is_said = true;
	if (!note_writer_has_reader())
		say("%s: %s; the trace is not complete", path, text);
}
