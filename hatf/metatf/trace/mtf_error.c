/* SPDX-License-Identifier: MIT */
/* mtf_error.c - see mtf_error.h */
#include "hatf/metatf/trace/mtf_error.h"

#include <stdarg.h>
#include <stdio.h>

bool
mtf_fail(struct mtf_error *err, uint64_t offset, uint64_t record,
	 const char *format, ...)
{
	va_list args;

	if (err->has_failed)
		return false;
	err->has_failed = true;
	err->offset = offset;
	err->record = record;
	va_start(args, format);
	vsnprintf(err->text, sizeof(err->text), format, args);
	va_end(args);
	return false;
}
