/* SPDX-License-Identifier: MIT */
/* record_print.h - print a record of a Meta-TF trace as text or as JSON */
#ifndef RECORD_PRINT_H
#define RECORD_PRINT_H

#include "hatf/metatf/trace/mtf_reader.h"
#include "tools/ui/out.h"

/* Print a line such as: alloc size=32 address=4096 vfield={length=0 data=""} */
void record_print_text(struct out *o, const struct mtf_record *r);

/*
 * Print a line such as
 * {"record":"alloc","section":"heap","fields":{"size":32,...}}.  Bytes are a
 * string if they are UTF-8 text without control characters, else
 * {"hex":"00ff"}.
 */
void record_print_json(struct out *o, const struct mtf_record *r);

#endif /* RECORD_PRINT_H */
