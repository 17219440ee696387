/* SPDX-License-Identifier: MIT */
/*
 * call_address.h - convert a return address to the address of the call, and
 * back
 *
 * In HATF, the address of a frame is the return address of its call (FORMAT
 * "Stacks").  The instruction at the return address may belong to the next line
 * or even the next function.  The formats of heaptrack, DHAT and pprof have the
 * return address minus 1, which lies within the call instruction.  Address 0 is
 * unknown and stays 0.  Any thread may call these functions.
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
