/* SPDX-License-Identifier: MIT */
/*
 * page_bytes.c - the pages of page/dist, which the assembler includes as bytes
 */
#include "tools/report/page_bytes.h"

#include <string.h>

/* clang-format off */
#define INCLUDE(NAME, FILE) \
	__asm__(".pushsection .rodata\n" \
		".global " NAME "\n" \
		".hidden " NAME "\n" \
		NAME ":\n" \
		".incbin \"tools/report/page/dist/" FILE "\"\n" \
		".global " NAME "_end\n" \
		".hidden " NAME "_end\n" \
		NAME "_end:\n" \
		".byte 0\n" \
		".popsection\n")
/* clang-format on */

INCLUDE("page_bytes", "report.html");
INCLUDE("page_replay_bytes", "replay.html");

struct page_parts
page_parts_of(const char *begin, const char *end)
{
	static const char place[] = "@HATF-DATA@";
	const char *const found =
		memmem(begin, (size_t)(end - begin), place, sizeof(place) - 1);
	const char *const rest = found + sizeof(place) - 1;

	return (struct page_parts){
		begin,
		rest,
		(size_t)(found - begin),
		(size_t)(end - rest),
	};
}
