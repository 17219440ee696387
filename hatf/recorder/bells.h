/* SPDX-License-Identifier: MIT */
/*
 * bells.h - the file by which 'hatf ctl' calls a process without a writer
 * thread
 *
 * All processes of a user share one file, BELLS_NAME, in the folder of the
 * sockets (socket_path.h).  The first process that finds no file makes it.  A
 * process that takes orders this way maps one page of the file, read-only, and
 * reads one slot; the process id gives the slot's index.  'hatf ctl' calls the
 * process by writing an order into that slot.  The next allocation of the
 * process finds that the slot has changed.  An order stays in its slot until
 * another order replaces it.
 *
 * Several processes may have the same slot: processes whose process ids differ
 * by a multiple of the number of slots, processes in different PID namespaces,
 * or processes that have the same process id one after the other.  So an order
 * names its process:
 *
 *	bits 63-58  low bits of the quotient (process id / number of slots)
 *	bits 57-45  low bits of the inode of the process's PID namespace
 *	bits 44-32  low bits of the process's start in clock ticks, as in
 *		    /proc/PID/stat
 *	bits 31-2   number of this order in its slot, modulo 2^30
 *	bits 1-0    enum bell_call
 *
 * A process id and a namespace identify one live process.  The start
 * distinguishes this process from an earlier process with the same process id.
 */
#ifndef BELLS_H
#define BELLS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* The number in the name changes if the layout of the file changes. */
#define BELLS_NAME "bells-1"

/*
 * While a process makes the file, the file's name is the process id and this
 * suffix, such as "1234.bel-".
 */
#define BELLS_MAKING_SUFFIX ".bel-"

#define BELLS_SLOTS 65536u

/* The whole file: an array of slots.  A slot is 0 before its first order. */
struct bells {
	_Atomic uint64_t slot[BELLS_SLOTS];
};

/* What the process must do at its next allocation. */
enum bell_call {
	BELL_CALL = 1, /* make the writer thread, which then takes orders */
	BELL_START,    /* do what BELL_CALL says, and begin to record */
	BELL_STOP,     /* do what BELL_CALL says, and end the trace */
};

/* The process that an order addresses. */
struct bells_process {
	uint64_t number;    /* process id in the process's own PID namespace */
	uint64_t namespace; /* inode of its PID namespace; 0: unknown */
	/*
	 * Start of the process, in clock ticks since the boot of the system; 0:
	 * unknown.
	 */
	uint64_t start_ticks;
};

/* mask for 13 bits: those of the namespace, or those of the start */
#define BELLS_FIELD_MASK 0x1fffu

static inline uint32_t
bells_slot_of(uint64_t number)
{
	return (uint32_t)(number % BELLS_SLOTS);
}

static inline enum bell_call
bells_call_of(uint64_t order)
{
	return (enum bell_call)(order & 3);
}

/*
 * Return an order for 'p' that replaces 'before', the present value of the slot
 * of 'p'.
 */
static inline uint64_t
bells_order(uint64_t before, const struct bells_process *p, enum bell_call call)
{
	return (p->number / BELLS_SLOTS) << 58 |
	       (p->namespace & BELLS_FIELD_MASK) << 45 |
	       (p->start_ticks & BELLS_FIELD_MASK) << 32 |
	       (((before | 3) + 1) & UINT32_MAX) | (uint64_t)call;
}

/*
 * Is 'order', which is in the slot of 'p', for the process id and the PID
 * namespace of 'p'?  If the namespace of the order or of 'p' is unknown (0),
 * compare only the process ids.  This function does not compare the start;
 * bells_is_since_start() does.
 */
static inline bool
bells_is_for(uint64_t order, const struct bells_process *p)
{
	const uint64_t namespace = order >> 45 & BELLS_FIELD_MASK;

	return order >> 58 == p->number / BELLS_SLOTS &&
	       (namespace == 0 || p->namespace == 0 ||
		namespace == (p->namespace & BELLS_FIELD_MASK));
}

/*
 * Does 'order' have the start of 'p'?  Only the low 13 bits are compared.  If
 * the start differs, 'order' addresses an earlier process with the same process
 * id.  An unknown start of 'p' never matches.
 */
static inline bool
bells_is_since_start(uint64_t order, const struct bells_process *p)
{
	return p->start_ticks != 0 &&
	       (order >> 32 & BELLS_FIELD_MASK) ==
		       (p->start_ticks & BELLS_FIELD_MASK);
}

#endif /* BELLS_H */
