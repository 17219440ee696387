/* SPDX-License-Identifier: MIT */
/*
 * out.h - standard output of the tools
 *
 * A large buffer in front of write(), with number formatting that 'hatf dump'
 * can call a hundred million times.  A failed write is remembered; what is
 * written after it goes nowhere, so that a caller may check late.
 */
#ifndef OUT_H
#define OUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define OUT_NBYTES 65536

struct out {
	int fd;
	int sys_errno; /* of the first write that failed, or 0 */
	size_t used;   /* bytes in 'buf' */
	char buf[OUT_NBYTES];
};

/* Standard output; the only one there is. */
struct out *out_stdout(void);

void out_flush(struct out *o);

/* What out_bytes() does when the buffer has no room. */
void out_bytes_slow(struct out *o, const char *s, size_t nbytes);

/* Inline, so that a constant string is stored by a few moves. */
static inline void
out_bytes(struct out *o, const char *s, size_t nbytes)
{
	if (nbytes > OUT_NBYTES - o->used) {
		out_bytes_slow(o, s, nbytes);
		return;
	}
	memcpy(o->buf + o->used, s, nbytes);
	o->used += nbytes;
}

static inline void
out_str(struct out *o, const char *s)
{
	out_bytes(o, s, strlen(s));
}

void out_u64(struct out *o, uint64_t n);
void out_hex(struct out *o, uint64_t n); /* with "0x" */
void out_printf(struct out *o, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Untrusted text, see escape.h. */
void out_text(struct out *o, const char *s);
/* The same, between double quotes. */
void out_quoted(struct out *o, const uint8_t *s, size_t nbytes);

bool out_failed(const struct out *o);

/*
 * Flush and say what failed, if anything did and it was not a closed pipe: a
 * reader that has seen enough is no error to talk about.  Returns
 * 'exit_status', or 1 if a write failed.
 */
int out_finish(struct out *o, int exit_status);

#endif /* OUT_H */
