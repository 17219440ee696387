/* SPDX-License-Identifier: MIT */
/*
 * splitaddr.h - HATF SplitAddr: definitions shared by source and sink
 *
 * See FORMATS "SplitAddr".  A group has two streams: HATF in which addresses
 * take no bytes, and the addresses in the order in which the HATF records use
 * them.
 */
#ifndef HATF_SPLITADDR_H
#define HATF_SPLITADDR_H

#include "hatf/formats/ours/address_stream.h"
#include "hatf/formats/ours/group.h"

#define SPLITADDR_MAGIC "\xfeHATFadr"

#define SPLITADDR_HATF	       0u
#define SPLITADDR_ADDRESSES    1u
#define SPLITADDR_STREAM_COUNT 2u

#define SPLITADDR_FORM_HATF 1

#endif /* HATF_SPLITADDR_H */
