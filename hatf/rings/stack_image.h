/* SPDX-License-Identifier: MIT */
/*
 * stack_image.h - call stacks as the recorder numbers them
 *
 * A stack is a frame and the stack of its caller.  The recorder keeps tables of
 * stacks and of objects (the program and its libraries) in memory, and its
 * events refer to stacks by number.
 *
 * The tables are in no file.  The rings define each stack and object by events:
 * EVENT_STACK_NODE, EVENT_OBJECT and EVENT_OBJECT_TEXT (RINGS.md).  Of this
 * header, only frames, marks and the limits belong to the layout of the ring
 * file.
 */
#ifndef STACK_IMAGE_H
#define STACK_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Numbers of stacks and objects are below these limits; 0 means none. */
#define STACK_IMAGE_NODES_MAX	((uint32_t)1 << 22)
#define STACK_IMAGE_OBJECTS_MAX 4096u

/*
 * A frame is a place in the code: an address of 48 bits, and the number of the
 * object that contains it.
 */
#define STACK_FRAME_ADDRESS_BITS 48
#define STACK_FRAME_ADDRESS_MASK (((uint64_t)1 << STACK_FRAME_ADDRESS_BITS) - 1)

/*
 * If a frame has the object 0 and one of these addresses, the frame stands for
 * missing frames.
 */
enum stack_mark {
	STACK_MARK_CUT = 1, /* the stack has more frames than are recorded */
	STACK_MARK_LOST,    /* the recorder could not find the callers */
	STACK_MARK_COUNT
};

struct stack_image_node {
	/*
	 * address of the frame, with the object's number in the upper bits; 0:
	 * the entry is unused
	 */
	uint64_t frame;
	uint32_t parent; /* the stack of the caller; 0: none */
	/* number of the frame; a frame may have two numbers (stack_table.c) */
	uint32_t frame_id;
};

/* A program or library.  Unused bytes are 0. */
struct stack_image_object {
	/*
	 * start and end of the object in memory; if 'end' is 0, the entry is
	 * unused
	 */
	uint64_t begin, end;
	/*
	 * What to subtract from an address in memory to get the address in the
	 * object's file.
	 */
	uint64_t base;
	uint32_t build_id_nbytes;
	uint8_t build_id[20];
	uint32_t unused;
	char path[4040]; /* path of the object's file, NUL-terminated */
};

_Static_assert(sizeof(struct stack_image_node) == 16,
	       "a node must have no padding");
_Static_assert(sizeof(struct stack_image_object) == 4096,
	       "an object must fill a page");

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

/* Maximum number of bytes that stack_image_build_id() writes. */
#define STACK_IMAGE_HEX_NBYTES 40u

/*
 * Write the build id in hexadecimal, without a NUL.  Return the number of
 * digits: 0 if there is no build id, or if 'build_id_nbytes' is invalid.
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
