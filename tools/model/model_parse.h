/* SPDX-License-Identifier: MIT */
/* model_parse.h - parse the argument of --model */
#ifndef MODEL_PARSE_H
#define MODEL_PARSE_H

#include "tools/model/heap_model.h"

/*
 * Parse "first-fit", "best-fit" or "segregated:TABLE".  TABLE is the name of an
 * allocator (size_tables.h; not glibc, which has no classes), "powers", or a
 * list of ascending sizes, up to MODEL_CHUNK_NBYTES, such as "16,32,64".
 * 'text' must stay valid as long as 'model'.  On failure print a message and
 * return false.
 */
bool model_parse(struct model *model, const char *text);

#endif /* MODEL_PARSE_H */
