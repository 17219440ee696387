/* SPDX-License-Identifier: MIT */
/*
 * stack_image.h - call stacks as the recorder numbers them
 *
 * A stack is a frame and the stack of its caller.  The recorder keeps a table
 * of them in memory, its events refer to them by number, and the ring file has
 * a copy of the table (RINGS.md), with which recovery defines the stacks that
 * it needs.
 */
#ifndef STACK_IMAGE_H
#define STACK_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Numbers are below these; 0 is no stack, no frame, no object. */
#define STACK_IMAGE_NODES_MAX	((uint32_t)1 << 22)
#define STACK_IMAGE_OBJECTS_MAX 4096u

/* A place in the code: an address of 48 bits, and the object that holds it. */
#define STACK_FRAME_ADDRESS_BITS 48
#define STACK_FRAME_ADDRESS_MASK (((uint64_t)1 << STACK_FRAME_ADDRESS_BITS) - 1)

/*
 * A frame whose address is one of these, and whose object is 0, stands for
 * missing frames.
 */
enum stack_mark {
	STACK_MARK_CUT = 1, /* there are more frames than are recorded */
	STACK_MARK_LOST,    /* from here on nobody knows the way */
	STACK_MARK_COUNT
};

struct stack_image_node {
	uint64_t frame;	   /* address, object in the upper bits; 0: unused */
	uint32_t parent;   /* the stack of the caller; 0: none */
	uint32_t frame_id; /* equal frames have equal ones */
};

/* A program or library; unused bytes are 0. */
struct stack_image_object {
	uint64_t begin, end; /* its memory; 'end' 0: unused */
	uint64_t base;	     /* its addresses less those in its file */
	uint32_t build_id_nbytes;
	uint8_t build_id[20];
	uint32_t unused;
	char path[4040]; /* ended by a byte of 0 */
};

_Static_assert(sizeof(struct stack_image_node) == 16, "in the ring file");
_Static_assert(sizeof(struct stack_image_object) == 4096, "in the ring file");

static inline uint64_t
stack_frame(uint64_t address, uint32_t object)
{
	return (address & STACK_FRAME_ADDRESS_MASK) |
	       (uint64_t)object << STACK_FRAME_ADDRESS_BITS;
}

static inline uint64_t
stack_frame_address(uint64_t frame)
{
	return frame & STACK_FRAME_ADDRESS_MASK;
}

static inline uint32_t
stack_frame_object(uint64_t frame)
{
	return (uint32_t)(frame >> STACK_FRAME_ADDRESS_BITS);
}

/* Upper bound of what stack_image_build_id() writes. */
#define STACK_IMAGE_HEX_NBYTES 40u

/*
 * Write the build id in hexadecimal, without a NUL.  Return the length: 0 if
 * there is no build id, or if its length is damaged.
 */
static inline size_t
stack_image_build_id(const struct stack_image_object *object, char *hex)
{
	const size_t nbytes = object->build_id_nbytes;

	if (nbytes > sizeof(object->build_id))
		return 0;
	for (size_t i = 0; i < nbytes; i++) {
		hex[2 * i] = "0123456789abcdef"[object->build_id[i] >> 4];
		hex[2 * i + 1] = "0123456789abcdef"[object->build_id[i] & 15];
	}
	return 2 * nbytes;
}

#endif /* STACK_IMAGE_H */
