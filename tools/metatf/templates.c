/* SPDX-License-Identifier: MIT */
/* templates.c - the templates, which the assembler reads from files */
#include "tools/metatf/templates.h"

#define TEMPLATE(symbol, file)                                  \
	__asm__(".pushsection .rodata\n"                        \
		".global " symbol "\n"                          \
		".hidden " symbol "\n" symbol ":\n"             \
		".incbin \"tools/metatf/templates/" file "\"\n" \
		".byte 0\n"                                     \
		".popsection\n")

TEMPLATE("template_reader_py", "reader.py.in");
TEMPLATE("template_head_h", "head.h.in");
TEMPLATE("template_tail_h", "tail.h.in");
TEMPLATE("template_common_c", "common.c.in");
TEMPLATE("template_events_h", "events.h.in");
