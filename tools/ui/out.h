/* SPDX-License-Identifier: MIT */
/*
 * out.h - buffered output of the tools, most of it to standard output
 *
 * The output goes through a large buffer.  The functions format numbers fast
 * enough for the hundred million lines of 'hatf dump'.  After the first failed
 * write, they discard all later output, so a caller may check for failure once,
 * at the end.  Not thread-safe.
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
	int sys_errno; /* errno of the first failure, or 0 */
	size_t used;   /* bytes in 'buf' */
	char buf[OUT_NBYTES];
};

/* Return the only 'struct out' for standard output. */
struct out *out_stdout(void);

void out_flush(struct out *o);

/*
 * Slow path of out_bytes(), for bytes that do not fit into the rest of the
 * buffer.
 */
void out_bytes_slow(struct out *o, const char *s, size_t nbytes);

/* Inline, so that the compiler stores a constant string directly. */
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
/* Write "0x" and the number in hexadecimal. */
void out_hex(struct out *o, uint64_t n);
void out_printf(struct out *o, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Write untrusted text, escaped (escape.h). */
void out_text(struct out *o, const char *s);
/*
 * Like out_text(), but in double quotes and with the escapes that quotes need.
 */
void out_quoted(struct out *o, const uint8_t *s, size_t nbytes);

bool out_failed(const struct out *o);

/*
 * Flush, and report the first failed write.  A closed pipe is not reported,
 * because a reader may stop early.  Return 'exit_status', or 1 if a write
 * failed.
 */
int out_finish(struct out *o, int exit_status);

#endif /* OUT_H */
