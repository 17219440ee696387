/* SPDX-License-Identifier: MIT */
/* page_bytes.c - the assembler includes the page, by its path from the top */
#include "tools/report/page_bytes.h"

__asm__(".pushsection .rodata\n"
	".global page_bytes\n"
	".hidden page_bytes\n"
	"page_bytes:\n"
	".incbin \"tools/report/page/dist/report.html\"\n"
	".global page_bytes_end\n"
	".hidden page_bytes_end\n"
	"page_bytes_end:\n"
	".byte 0\n"
	".popsection\n");
