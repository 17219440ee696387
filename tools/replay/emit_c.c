/* SPDX-License-Identifier: MIT */
/* emit_c.c - see emit_c.h */
#include "tools/replay/emit_c.h"

#include "tools/compile/word_reader.h"
#include "tools/ui/message.h"
#include "tools/ui/output_file.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Maximum number of words (replay_words.h) that become one function of the C
 * program, because compilers are slow with long functions.  A word becomes at
 * most three statements.
 */
#define PART_STATEMENTS 500

struct emitter {
	FILE *file;
	const struct compiled *compiled;
	uint32_t stream, life;
	/*
	 * A part is a function of the C program, made from some words of the
	 * current life of the stream (replay_words.h).  'part' is the number of
	 * parts of this life so far.  'statement_count' is the number of words,
	 * not of statements, in the last part.
	 */
	unsigned part, statement_count;
	struct word_reader reader;
};

/* ----------------------------------------------------------------- prologue */

static const char includes[] = "#include <malloc.h>\n"
			       "#include <pthread.h>\n"
			       "#include <sched.h>\n"
			       "#include <stdatomic.h>\n"
			       "#include <stdio.h>\n"
			       "#include <stdlib.h>\n"
			       "\n";

static const char need[] = "/* Return a block that was allocated. */\n"
			   "static inline void *\n"
			   "need(void *p)\n"
			   "{\n"
			   "\tif (p == NULL) {\n"
			   "\t\tfputs(\"no memory\\n\", stderr);\n"
			   "\t\texit(1);\n"
			   "\t}\n"
			   "\treturn p;\n"
			   "}\n"
			   "\n";

static const char turns[] =
	"/* Wait until a number is 'n'. */\n"
	"static inline void\n"
	"wait_for(atomic_uint *number, unsigned n)\n"
	"{\n"
	"\twhile (atomic_load(number) != n)\n"
	"\t\tsched_yield();\n"
	"}\n"
	"\n"
	"static inline void\n"
	"pass(atomic_uint *number)\n"
	"{\n"
	"\tatomic_fetch_add(number, 1);\n"
	"}\n"
	"\n"
	"static inline void\n"
	"create(unsigned i, unsigned life, void *(*run)(void *))\n"
	"{\n"
	"\twait_for(&created[i], life);\n"
	"\tif (life > 0)\n"
	"\t\tpthread_join(threads[i], NULL);\n"
	"\tif (pthread_create(&threads[i], NULL, run, NULL) != 0) {\n"
	"\t\tfputs(\"no more threads\\n\", stderr);\n"
	"\t\texit(1);\n"
	"\t}\n"
	"\tpass(&created[i]);\n"
	"}\n"
	"\n";

static bool
is_threaded(const struct emitter *e)
{
	return e->compiled->file.stream_count > 1;
}

/*
 * Print text inside a comment.  Replace each character that is not printable,
 * or that could end the comment, by '_'.
 */
static void
print_comment(FILE *f, const char *text)
{
	for (; *text != '\0'; text++)
		fputc(*text >= ' ' && *text <= '~' && *text != '*' &&
				      *text != '\\' && *text != '?'
			      ? *text
			      : '_',
		      f);
}

static void
print_prologue(struct emitter *e, const char *trace)
{
	const struct compiled *const c = e->compiled;

	fputs("/*\n * Made by 'hatf replay --emit-c' from ", e->file);
	print_comment(e->file, trace);
	fprintf(e->file,
		":\n * %" PRIu64 " calls, %" PRIu64 " threads\n *\n"
		" * cc -O2 -pthread THIS-FILE\n */\n%s",
		c->calls, c->thread_count, includes);
	/*
	 * Make the array volatile, because the compiler would otherwise remove
	 * calls without an effect.  The last element stays NULL.  For
	 * realloc(NULL, n), the program passes this element, because the
	 * compiler would turn a constant NULL into malloc(n).
	 */
	fprintf(e->file, "static void *volatile block[%" PRIu64 "];\n",
		c->slot_count + 1);
	if (c->handovers != 0)
		fprintf(e->file, "static atomic_uint turn[%" PRIu64 "];\n",
			c->slot_count + 1);
	/*
	 * The program counts in created[i] how often thread i was created.  The
	 * initial thread is never created, so the program uses created[0] to
	 * count the threads that have reached the start of the window.
	 */
	if (is_threaded(e))
		fprintf(e->file,
			"static pthread_t threads[%" PRIu32 "];\n"
			"static atomic_uint created[%" PRIu32 "];\n",
			c->file.stream_count, c->file.stream_count);
	fputs("\n", e->file);
	fputs(need, e->file);
	if (is_threaded(e))
		fputs(turns, e->file);
	for (uint32_t i = 1; i < c->file.stream_count; i++)
		for (uint32_t k = 0; k < c->file.streams[i].lives; k++)
			fprintf(e->file,
				"static void *thread_%" PRIu32 "_%" PRIu32
				"(void *);\n",
				i, k);
}

/* --------------------------------------------------------------- statements */

static void
print_call(const struct emitter *e, const struct word_item *item)
{
	FILE *const f = e->file;
	const uint32_t n = item->number;

	if (item->waits)
		fprintf(f, "\twait_for(&turn[%" PRIu32 "], %" PRIu64 ");\n", n,
			item->turn);
	if (item->kind == WORD_FREE)
		fprintf(f, "\tfree(block[%" PRIu32 "]);\n", n);
	else
		fprintf(f, "\tblock[%" PRIu32 "] = need(", n);
	if (item->kind == WORD_MALLOC)
		fprintf(f, "malloc(%" PRIu64 "u));\n", item->size);
	else if (item->kind == WORD_CALLOC)
		fprintf(f, "calloc(1, %" PRIu64 "u));\n", item->size);
	else if (item->kind == WORD_MEMALIGN)
		fprintf(f, "memalign(%" PRIu64 "u, %" PRIu64 "u));\n",
			item->alignment, item->size);
	else if (item->kind == WORD_REALLOC)
		fprintf(f, "realloc(block[%" PRIu32 "], %" PRIu64 "u));\n", n,
			item->size);
	else if (item->kind == WORD_REALLOC_NULL)
		fprintf(f, "realloc(block[%" PRIu64 "], %" PRIu64 "u));\n",
			e->compiled->slot_count, item->size);
	if (item->hands)
		fprintf(f, "\tpass(&turn[%" PRIu32 "]);\n", n);
}

/*
 * Print the statements of a word, if the word needs any.  For WORD_EXIT and
 * WORD_END, print_stream() calls end_life() instead.
 */
static void
print_word(const struct emitter *e, const struct word_item *item)
{
	FILE *const f = e->file;

	if (item->kind >= WORD_MALLOC)
		print_call(e, item);
	else if (item->kind == WORD_CREATE)
		fprintf(f,
			"\tcreate(%" PRIu32 ", %" PRIu64 ", thread_%" PRIu32
			"_%" PRIu64 ");\n",
			item->number, item->turn, item->number, item->turn);
	else if (item->kind == WORD_BEGIN && !is_threaded(e))
		fputs("\t/* The window begins. */\n", f);
	else if (item->kind == WORD_BEGIN)
		fprintf(f,
			"\t/* The window begins. */\n\tpass(&created[0]);\n"
			"\twait_for(&created[0], %" PRIu32 ");\n",
			item->number);
}

/* ---------------------------------------------------------------- functions */

static void
begin_part(struct emitter *e)
{
	fprintf(e->file,
		"\nstatic void\npart_%" PRIu32 "_%" PRIu32 "_%u(void)\n{\n",
		e->stream, e->life, e->part++);
	e->statement_count = 0;
}

/*
 * End a life of a stream, and print the function that calls its parts.  For
 * stream 0, this function is main(), whose end print_end() prints.
 */
static void
end_life(struct emitter *e)
{
	fputs("}\n", e->file);
	if (e->stream == 0)
		fputs("\nint\nmain(void)\n{\n", e->file);
	else
		fprintf(e->file,
			"\nstatic void *\nthread_%" PRIu32 "_%" PRIu32
			"(void *arg)\n{\n",
			e->stream, e->life);
	for (unsigned i = 0; i < e->part; i++)
		fprintf(e->file, "\tpart_%" PRIu32 "_%" PRIu32 "_%u();\n",
			e->stream, e->life, i);
	if (e->stream != 0)
		fputs("\treturn arg;\n}\n", e->file);
	e->life++;
	e->part = 0;
}

/* Print the end of main(), which waits for all threads. */
static void
print_end(struct emitter *e)
{
	const struct compiled *const c = e->compiled;

	for (uint32_t i = 1; i < c->file.stream_count; i++)
		if (c->file.streams[i].lives > 0)
			fprintf(e->file,
				"\twait_for(&created[%" PRIu32 "], %" PRIu32
				");\n\tpthread_join(threads[%" PRIu32
				"], NULL);\n",
				i, c->file.streams[i].lives, i);
	fputs("\treturn 0;\n}\n", e->file);
}

/* Print the functions of a stream. */
static bool
print_stream(struct emitter *e, uint32_t stream)
{
	const struct word_stream *const s = &e->compiled->file.streams[stream];
	struct word_item item;

	e->stream = stream;
	e->life = 0;
	e->part = 0;
	if (!word_reader_open(&e->reader, &e->compiled->file, stream))
		return false;
	begin_part(e);
	for (;;) {
		if (!word_reader_next(&e->reader, &item))
			return false;
		if (item.kind == WORD_END)
			break;
		if (item.size > PTRDIFF_MAX) {
			errno = EFBIG;
			return false;
		}
		print_word(e, &item);
		if (item.kind == WORD_EXIT) {
			end_life(e);
			if (e->life == s->lives)
				return true;
			begin_part(e);
		} else if (++e->statement_count == PART_STATEMENTS) {
			fputs("}\n", e->file);
			begin_part(e);
		}
	}
	end_life(e);
	return true;
}

static bool
print_program(struct emitter *e, const char *trace)
{
	print_prologue(e, trace);
	/*
	 * Print the streams in reverse order, so that main() is the last
	 * function.
	 */
	for (uint32_t i = e->compiled->file.stream_count; i-- > 0;)
		if (!print_stream(e, i))
			return false;
	print_end(e);
	return ferror(e->file) == 0;
}

bool
emit_c(const char *path, const char *trace, const struct compiled *compiled)
{
	struct emitter *const e = calloc(1, sizeof(*e));
	char *text = NULL;
	size_t nbytes = 0;
	bool ok = false;

	if (compiled->calls + compiled->built_count > EMIT_CALLS_MAX) {
		message_print("%s: more than %d calls: choose a part of the "
			      "trace with --from and --to",
			      message_path(trace), EMIT_CALLS_MAX);
		free(e);
		return false;
	}
	errno = ENOMEM;
	if (e != NULL) {
		e->compiled = compiled;
		e->file = open_memstream(&text, &nbytes);
		ok = e->file != NULL && print_program(e, trace);
		if (e->file != NULL && fclose(e->file) != 0)
			ok = false;
	}
	if (!ok && errno == EFBIG)
		message_print("%s: a block has more bytes than an object in C "
			      "can have",
			      message_path(trace));
	else if (!ok)
		message_print("%s: %s", message_path(path), strerror(errno));
	ok = ok && output_file_write(path, text, nbytes);
	free(text);
	free(e);
	return ok;
}
