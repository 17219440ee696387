/* SPDX-License-Identifier: MIT */
/* page_bytes.h - page/dist/report.html, as it is in the program */
#ifndef PAGE_BYTES_H
#define PAGE_BYTES_H

extern const char page_bytes[];	    /* its first byte */
extern const char page_bytes_end[]; /* after its last one */

#endif /* PAGE_BYTES_H */
