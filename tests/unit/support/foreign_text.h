/* SPDX-License-Identifier: MIT */
/*
 * foreign_text.h - text traces of other systems, one of each format
 */
#ifndef TESTS_FOREIGN_TEXT_H
#define TESTS_FOREIGN_TEXT_H

#include "hatf/hatf.h"
#include "tests/unit/support/hand.h"
#include "tests/unit/support/streams.h"

static const char hummingbird[] = "Allocate 0x55d0c0 24\n"
				  "Allocate 0x55d0e0 0\n"
				  "Free 0x55d0c0\n"
				  "Allocate 0x55d0c0 100\n"
				  "Free 0x1\n";

static const char mtrace[] =
	"= Start\n"
	"@ ./a b:(main+1a)[0x123f] + 0x37922a0 0xa\n"
	"@ ./a b:[0x1275] < 0x37922a0\n"
	"@ ./a b:[0x1275] > 0x3792510 0x28\n"
	"@ ./a b:(f(int)-0x3)[0x1277] < 0x3792510\n"
	"@ ./a b:(f(int)-0x3)[0x1277] > 0x3792510 0x30\n"
	"@ ./a b:(+0x3)[0x1277] ! 0x3792510 0x7fffffffffffffff\n"
	"@ [0x99] - 0x3792510\n"
	"+ (nil) 0x7fffffffffffffff\n"
	"@ a.c:12 + 0x10 0\n"
	"@ f@@V1 - 0x10\n"
	"@ b:(operator+)[0x1] + 0x10 0x1\n"
	"@ b:(a-b)[0x2] - 0x10\n"
	"@ a(b)[0x3] - 0x10\n"
	"= End\n";

static const char android[] = "186: malloc 0xb6038060 20 10 11\n"
			      "186: calloc 0xb609f080 32 4 12 13\n"
			      "187: memalign 0xae9d0000 4096 32 14 15\n"
			      "186: realloc 0xb609f0c0 0xb609f080 192 16 17\n"
			      "186: realloc 0xb609f0c0 0xb609f0c0 8 18 19\n"
			      "186: realloc 0x0 0xb609f0c0 999 20 21\n"
			      "186: realloc 0x0 0xb609f0c0 0 22 23\n"
			      "186: realloc 0xb609f100 0x0 5 24 25\n"
			      "187: free 0xae9d0000 26 27\n"
			      "187: thread_done 0x0 28\n"
			      "186: malloc 0x0 1 30 31\n";

/* A trace of each format. */
static const struct {
	const char *name, *text;
} traces[] = {
	{ "hummingbird", hummingbird },
	{ "mtrace", mtrace },
	{ "android", android },
};
#define TRACE_COUNT (sizeof(traces) / sizeof(traces[0]))

static inline struct hatf_reader *
open_text(const char *text, size_t nbytes, unsigned flags,
	  struct hatf_error *err)
{
	const int fd = hand_file((const uint8_t *)text, nbytes);
	struct hatf_reader *reader = NULL;

	reader_of_fd(fd, flags, &reader, err);
	return reader;
}

/* Print the records, except comments, as text; return the final status. */
static inline enum hatf_status
print_records(struct hatf_reader *reader, size_t batch, char *out, size_t cap)
{
	struct hatf_record r[64];
	enum hatf_status status;
	size_t n, used = 0;

	out[0] = '\0';
	while ((status = hatf_reader_read(reader, r, batch, &n)) == HATF_OK)
		for (size_t i = 0; i < n; i++) {
			if (r[i].tag == HATF_COMMENT)
				continue;
			used += (size_t)snprintf(
				out + used, cap - used,
				"%s %llu %llx %llx %llu %llu %llu\n",
				hatf_tag_name(r[i].tag),
				(unsigned long long)r[i].size,
				(unsigned long long)r[i].old_address,
				(unsigned long long)r[i].address,
				(unsigned long long)r[i].thread,
				(unsigned long long)r[i].time,
				(unsigned long long)hatf_record_stack(&r[i]));
			ck_assert_uint_lt(used, cap);
		}
	return status;
}

/* Check the records of a trace, read with batches of several sizes. */
static inline void
check_records(const char *text, unsigned flags, const char *format,
	      const char *want)
{
	for (size_t batch = 1; batch <= 64; batch += 9) {
		char got[4096];
		struct hatf_error err;
		struct hatf_reader *const reader =
			open_text(text, strlen(text), flags, &err);
		struct hatf_reader_stats stats = { .struct_nbytes =
							   sizeof(stats) };

		ck_assert_ptr_nonnull(reader);
		ck_assert_str_eq(hatf_reader_format(reader), format);
		ck_assert_int_eq(print_records(reader, batch, got, sizeof(got)),
				 HATF_END);
		ck_assert_str_eq(got, want);
		hatf_reader_get_stats(reader, &stats);
		ck_assert(stats.complete && stats.foreign && !stats.ours);
		hatf_reader_close(reader);
	}
}

#endif /* TESTS_FOREIGN_TEXT_H */
