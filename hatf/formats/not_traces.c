/* SPDX-License-Identifier: MIT */
/* not_traces.c - see not_traces.h */
#include "hatf/formats/not_traces.h"

#include "hatf/formats/common/format.h"

/*
 * gperftools' 'postprocess' converts a raw trace to a processed stream of
 * instructions.  An instruction has 24 bytes; its first byte is its type, 0 to
 * 7.  Its parts, by offset in bytes:
 *
 *	0  type   1  register   8  a number   16  a number
 */
#define INSTRUCTION_NBYTES 24
#define INSTRUCTION_SWITCH 5
#define INSTRUCTION_LAST   7

/*
 * Require at least INSTRUCTION_COUNT_MIN instructions, because a shorter match
 * may be a coincidence.  The field of the register has 7 bytes, but the number
 * of a register fits into REGISTER_NBYTES, so the other 3 bytes must be 0.
 */
#define INSTRUCTION_COUNT_MIN 2
#define REGISTER_NBYTES	      4

static bool
is_instruction(const uint8_t *p)
{
	if (p[0] > INSTRUCTION_LAST)
		return false;
	for (unsigned i = 1 + REGISTER_NBYTES; i < 8; i++)
		if (p[i] != 0)
			return false;
	return true;
}

static bool
is_processed(const uint8_t *bytes, size_t nbytes)
{
	const size_t count = nbytes / INSTRUCTION_NBYTES;

	/* The first instruction switches to the first thread. */
	if (count < INSTRUCTION_COUNT_MIN || bytes[0] != INSTRUCTION_SWITCH)
		return false;
	for (size_t i = 0; i < count; i++)
		if (!is_instruction(bytes + i * INSTRUCTION_NBYTES))
			return false;
	/*
	 * The first instruction is a switch, which uses neither of its two
	 * numbers, so both numbers must be 0.
	 */
	for (size_t i = 8; i < INSTRUCTION_NBYTES; i++)
		if (bytes[i] != 0)
			return false;
	return true;
}

/* Do the bytes begin with '{' and contain DHAT's key for the version? */
static bool
is_dhat(const uint8_t *bytes, size_t nbytes)
{
	static const char key[] = "\"dhatFileVersion\"";

	return nbytes != 0 && bytes[0] == '{' &&
	       memmem(bytes, nbytes, key, sizeof(key) - 1) != NULL;
}

/*
 * Does a pprof profile begin here?  Such a profile begins with two sample types
 * (field 1 of the message).  Each contains two indices into the table of
 * strings, for the type and for the unit.  The indices are below 128, so each
 * is one byte.
 */
static bool
is_pprof(const uint8_t *bytes, size_t nbytes)
{
	static const uint8_t want[] = { 0x0a, 4, 0x08, 0, 0x10, 0 };

	if (nbytes < 2 * sizeof(want))
		return false;
	for (size_t i = 0; i < 2 * sizeof(want); i++) {
		const uint8_t byte = want[i % sizeof(want)];

		if (byte != 0 ? bytes[i] != byte : bytes[i] >= 0x80)
			return false;
	}
	return true;
}

const char *
not_traces_recognize(const uint8_t *bytes, size_t nbytes)
{
	if (nbytes > FORMAT_PREFIX_NBYTES)
		nbytes = FORMAT_PREFIX_NBYTES;
	if (is_processed(bytes, nbytes))
		return "a processed gperftools stream; hatf reads only raw "
		       "traces";
	if (is_dhat(bytes, nbytes))
		return "a profile for DHAT's viewer; hatf writes but cannot "
		       "read such profiles";
	if (is_pprof(bytes, nbytes))
		return "a profile for pprof; hatf writes but cannot read such "
		       "profiles";
	return NULL;
}
