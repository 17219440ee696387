/* SPDX-License-Identifier: MIT */
/*
 * call_address.h - where a frame calls, and where the call returns to
 *
 * The address of a frame is the one to which its call returns (FORMAT
 * "Stacks"), which may be on the next line or even in the next function.
 * heaptrack, DHAT and pprof have the address before it, which lies within the
 * call instruction.  Address 0 is unknown and stays 0.  Any thread may call
 * these functions.
 */
#ifndef HATF_CALL_ADDRESS_H
#define HATF_CALL_ADDRESS_H

#include <stdint.h>

static inline uint64_t
call_address_of(uint64_t return_address)
{
	return return_address - (return_address != 0);
}

static inline uint64_t
return_address_of(uint64_t call_address)
{
	return call_address + (call_address != 0 && call_address != UINT64_MAX);
}

#endif /* HATF_CALL_ADDRESS_H */
