/* SPDX-License-Identifier: MIT */
/*
 * hatf.h - read and write traces in HATF, the Heap Allocation Trace Format
 *
 * Programs include this header only; it brings in the others:
 *
 *	hatf_content.h	errors, records, attributes, stacks
 *	hatf_stream.h	formats, readers (file -> records), writers
 *			(records -> file)
 *	hatf_events.h	events (records -> what the program did), and recovery
 *			of traces of killed processes
 *
 * In comments, "FORMAT" cites a heading of FORMAT.md, which specifies HATF.
 * "FORMATS" cites a heading of formats/FORMATS.md, which specifies the other
 * formats.  "RINGS" cites a heading of rings/RINGS.md, which specifies the ring
 * file.  HATF 1.0 itself is specified in appendix A of Chilimbi, Jones, Zorn:
 * "Designing a Trace Format for Heap Allocation Events", ISMM 2000.
 *
 * A complete program: print the sum of the sizes in all alloc records of a
 * trace.
 *
 *	#include <hatf.h>
 *	#include <stdio.h>
 *	int main(int argc, char **argv)
 *	{
 *		struct hatf_record r;
 *		struct hatf_reader *reader;
 *		uint64_t sum = 0;
 *		size_t n;
 *		if (argc != 2 || hatf_reader_open(argv[1], NULL, &reader, NULL))
 *			return 1;
 *		while (hatf_reader_read(reader, &r, 1, &n) == HATF_OK)
 *			sum += r.tag == HATF_ALLOC ? r.size : 0;
 *		printf("%llu\n", (unsigned long long)sum);
 *		hatf_reader_close(reader);
 *	}
 *
 * Failure: a function that can fail returns 'enum hatf_status'; HATF_OK is its
 * value 0.  The function's comment lists the other statuses.  A function with a
 * parameter 'struct hatf_error *err' stores the place and the reason of a
 * failure in '*err', unless 'err' is NULL.  For a function that returns bool or
 * a pointer, its comment says what false or NULL means.
 *
 * Threads: one thread at a time may use an object; several threads may use
 * different objects at once.  An event stage (hatf_events.h) and its reader
 * count as one object.  Any thread may call a function that takes no object.
 * Objects share only what the library has found out about the system, such as
 * which compression library is the fastest.  The library never prints, and
 * never exits or aborts because of its input.
 *
 * Ownership: an object that a function stores through a '..._ret' parameter,
 * such as 'reader_ret', belongs to the caller, who frees it with the '_close'
 * function of its type.  The '_close' functions accept NULL.  The library owns
 * the strings that it returns, except that hatf_error_text() returns the
 * caller's buffer.  The comment of each function says how long its strings stay
 * valid; "static" means for ever.
 *
 * Growth: later versions of the library add members to structs in two ways.
 * Neither changes what a compiled program sees.
 *
 *   - Where the first member is 'struct_nbytes', the caller sets it to the
 *     sizeof of the struct.  In options, the caller sets each other member to
 *     0, which selects the default, or to a value.  For example:
 *
 *	struct hatf_reader_stats stats = { .struct_nbytes = sizeof(stats) };
 *
 *     A caller that was compiled with an older version has a smaller struct.
 *     Options that the smaller struct lacks have their defaults, and results
 *     that it has no room for are left out.  A caller that was compiled with a
 *     newer version has a larger struct.  The library sets results that it
 *     does not know to 0.  Options that it does not know must be 0; otherwise
 *     the call fails with HATF_BAD_OPTION, and 'field' of '*err' is
 *     "struct_nbytes".
 *   - Where a struct has 'reserved' members, these are 0 in results, and must
 *     be 0 in what the caller fills in.
 *
 * The other structs never get more members.  One of them is 'struct
 * hatf_record', because HATF 1.0 fixes the fields of a record, and attributes
 * contain everything else.
 */
#ifndef HATF_H
#define HATF_H

#define HATF_VERSION "0.1.0"

#include "hatf_content.h"

#include "hatf_stream.h"

#include "hatf_events.h"

#endif /* HATF_H */
