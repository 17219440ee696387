/* SPDX-License-Identifier: MIT */
/*
 * protobuf.h - encode messages of protocol buffers
 *
 * The encoder is hand-written, because pprof's profiles need only varints and
 * length-prefixed bytes, which take few lines and one pass over the data.
 * protobuf-c would add a library, which every user of libhatf would have to
 * link, and would add a compiler to the build.  protobuf-c also needs the whole
 * profile in memory before it writes the first byte.  Here, only one message at
 * a time is in a buffer, and each message is small.
 *
 * Source: "Encoding" of the protocol buffers documentation.  Only one thread
 * may use a message.
 */
#ifndef HATF_PROTOBUF_H
#define HATF_PROTOBUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A message that is being encoded; it is empty if all members are 0.  If memory
 * runs out, 'failed' is set, and the content of the message is not valid.  The
 * owner frees 'buf'.
 */
struct protobuf {
	uint8_t *buf;
	size_t used, cap;
	bool failed;
};

/* Append a number without a field number, as in a packed field. */
void protobuf_put_varint(struct protobuf *m, uint64_t n);

/*
 * Append a field with a number.  Omit the field if the number is 0, because a
 * reader takes a missing field as 0.
 */
void protobuf_put_number(struct protobuf *m, unsigned field, uint64_t n);

/* Append a field with bytes, or with a string. */
void protobuf_put_bytes(struct protobuf *m, unsigned field, const void *bytes,
			size_t nbytes);

/* Append the message 'part' as a field of 'm', and empty 'part'. */
void protobuf_put_message(struct protobuf *m, unsigned field,
			  struct protobuf *part);

/* Append the fields of 'part' to those of 'm', and empty 'part'. */
void protobuf_append(struct protobuf *m, struct protobuf *part);

#endif /* HATF_PROTOBUF_H */
