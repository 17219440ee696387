/* SPDX-License-Identifier: MIT */
/*
 * fuzz_sums.c - a trace in which all checksums are right
 *
 * Nearly every change of a trace block with a sum is found by its sum, so the
 * other targets seldom get past one.  This target first gives each sum of the
 * input the right digits (FORMAT "Sums").  Then it checks:
 *
 *   - The reader accepts all these sums.
 *   - With another digit in one of them, which the input's hash chooses, it
 *     stops at that sum, after the same records as before.
 *   - The event stage accepts what the reader delivers.
 */
#include "fuzz.h"
#include "hatf/codec/crc32c.h"
#include "hatf/hatf.h"
#include "tests/unit/support/streams.h"

#include <stdbool.h>

#define INPUT_MAX  65536
#define RECORD_MAX 20000
#define SUMS_MAX   64
#define HEAD	   3		       /* bytes of a comment before its text */
#define DIGITS	   (CRC32C_DIGITS + 1) /* with the line end */

/* What one reading has found. */
struct outcome {
	enum hatf_status opened, status; /* status HATF_OK: too many records */
	bool is_ours; /* has our header; otherwise nobody checks its sums */
	struct hatf_error err;
	size_t record_count;
	uint64_t hash; /* of the records */
	/* Offsets of the sums' first digits, and records before each. */
	size_t sums[SUMS_MAX], records_before[SUMS_MAX];
	size_t sum_count;
	uint64_t start; /* where the bytes of the next sum begin */
	size_t block_count;
};

static uint8_t trace[INPUT_MAX];
static size_t trace_nbytes;

static bool
is_kind(const uint8_t *text, size_t nbytes, const char *kind)
{
	const size_t n = strlen(kind);

	return nbytes > n && memcmp(text, kind, n) == 0 && text[n] == '\n';
}

/* Does the text end in a sum, of the form that the reader checks? */
static bool
has_sum(const uint8_t *text, size_t nbytes)
{
	static const char key[] = "\ncrc32c=";
	const size_t n = sizeof(key) - 1 + DIGITS;

	return nbytes >= n && memcmp(text + nbytes - n, key, n - DIGITS) == 0 &&
	       (is_kind(text, nbytes, "HATF sum") ||
		is_kind(text, nbytes, "HATF end"));
}

static void
note_comment(struct outcome *out, const struct hatf_record *r)
{
	const size_t nbytes = r->attributes_nbytes;
	const uint64_t end = r->offset + HEAD + nbytes;

	if (is_kind(r->attributes, nbytes, "HATF block") &&
	    out->block_count++ != 0)
		out->start = r->offset;
	if (!has_sum(r->attributes, nbytes))
		return;
	if (out->sum_count < SUMS_MAX) {
		out->sums[out->sum_count] = end - DIGITS;
		out->records_before[out->sum_count++] = out->record_count;
	}
	out->start = end;
}

static void
note(struct outcome *out, const struct hatf_record *r)
{
	const uint64_t numbers[] = {
		r->tag,	 r->size,   r->address, r->old_address,
		r->time, r->thread, r->heap,	r->offset,
	};

	if (r->tag == HATF_COMMENT)
		note_comment(out, r);
	else
		out->hash = fuzz_hash(out->hash, numbers, sizeof(numbers));
	out->record_count++;
}

static void
read_trace(struct outcome *out)
{
	struct hatf_reader_stats stats = { .struct_nbytes = sizeof(stats) };
	struct hatf_record records[16];
	struct hatf_reader *reader;
	const int fd = fuzz_file();
	size_t n;

	*out = (struct outcome){ .status = HATF_OK };
	fuzz_append(fd, trace, trace_nbytes);
	lseek(fd, 0, SEEK_SET);
	out->opened = reader_of_fd_as(fd, "hatf", 0, &reader, &out->err);
	if (out->opened != HATF_OK) {
		close(fd);
		return;
	}
	while (out->record_count < RECORD_MAX &&
	       (out->status = hatf_reader_read(reader, records, 16, &n)) ==
		       HATF_OK)
		for (size_t i = 0; i < n; i++)
			note(out, &records[i]);
	out->err = *hatf_reader_error(reader);
	hatf_reader_get_stats(reader, &stats);
	out->is_ours = stats.ours;
	hatf_reader_close(reader);
	close(fd);
}

/* Has reading stopped at a wrong sum? */
static bool
is_wrong_sum(const struct outcome *out)
{
	return out->opened == HATF_OK && out->status == HATF_BAD_COMMENT &&
	       strcmp(out->err.field, "crc32c") == 0;
}

/*
 * Give the sum at which reading has stopped the right digits.  Return false if
 * it has no place for them.
 */
static bool
mend(const struct outcome *out)
{
	const uint64_t comment = out->err.offset;
	size_t nbytes, digits;

	fuzz_check(comment + HEAD <= trace_nbytes && comment >= out->start);
	nbytes = (size_t)trace[comment + 1] << 8 | trace[comment + 2];
	fuzz_check(comment + HEAD + nbytes <= trace_nbytes);
	if (!has_sum(trace + comment + HEAD, nbytes))
		return false;
	digits = comment + HEAD + nbytes - DIGITS;
	crc32c_write(
		crc32c_add_by_table(0, trace + out->start, digits - out->start),
		trace + digits);
	trace[digits + CRC32C_DIGITS] = '\n';
	return true;
}

/* Change a digit of a sum: the reader must find it. */
static void
check_wrong_digit(const struct outcome *right, uint64_t hash)
{
	struct outcome wrong;
	const size_t i = hash % right->sum_count;
	uint8_t *const digit =
		&trace[right->sums[i] + hash / SUMS_MAX % CRC32C_DIGITS];

	*digit = *digit == '0' ? '1' : '0';
	read_trace(&wrong);
	fuzz_check(is_wrong_sum(&wrong));
	fuzz_check(wrong.record_count == right->records_before[i]);
}

static void
read_events(void)
{
	static struct hatf_event events[256];
	struct hatf_reader *reader;
	struct hatf_events *stage;
	struct hatf_error err;
	const int fd = fuzz_file();
	size_t n, count = 0;

	fuzz_append(fd, trace, trace_nbytes);
	lseek(fd, 0, SEEK_SET);
	fuzz_check(reader_of_fd_as(fd, "hatf", 0, &reader, &err) == HATF_OK);
	fuzz_check(hatf_events_open(reader, &stage) == HATF_OK);
	while (count < RECORD_MAX &&
	       hatf_events_read(stage, events, 256, &n) == HATF_OK)
		count += n;
	hatf_events_close(stage);
	hatf_reader_close(reader);
	close(fd);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t nbytes)
{
	struct outcome out, again;

	if (nbytes > INPUT_MAX)
		return 0;
	memcpy(trace, data, nbytes);
	trace_nbytes = nbytes;
	read_trace(&out);
	for (unsigned i = 0; i < SUMS_MAX && is_wrong_sum(&out); i++) {
		if (!mend(&out))
			return 0;
		read_trace(&again);
		/* It is right now, but the comment may have other faults. */
		fuzz_check(!is_wrong_sum(&again) ||
			   again.record_count > out.record_count);
		out = again;
	}
	if (out.opened != HATF_OK)
		return 0;
	read_events();
	if (out.is_ours && out.sum_count != 0)
		check_wrong_digit(&out, fuzz_hash(out.hash, data, nbytes));
	return 0;
}
