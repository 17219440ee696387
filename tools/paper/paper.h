/* SPDX-License-Identifier: MIT */
/*
 * paper.h - the paper's figures, to print beside the measured figures
 *
 * The arrays have the printed figures of tables 3 to 8 of Chilimbi, Jones,
 * Zorn: "Designing a Trace Format for Heap Allocation Events", ISMM 2000.  Each
 * row is a program; the last row is the paper's own average, except in table 3,
 * which has no average.  Each pair is bytes per data record (uncompressed,
 * compressed), or times per record (to read the record, to write it).
 */
#ifndef PAPER_H
#define PAPER_H

#define PAPER_PROGRAMS 4
#define PAPER_ROWS     (PAPER_PROGRAMS + 1)

/* Names of the rows: the programs, then "average". */
extern const char *const paper_rows[PAPER_ROWS];

/*
 * Columns: allocs, reallocs, frees, bytes, peak of live objects, peak of live
 * bytes, all in thousands; and the average size in bytes.
 */
extern const double paper_table3[PAPER_PROGRAMS][7];

/*
 * Columns: Simple Binary, ASCII, HATF (naive), HATF (best), Split Stream, HATF
 * SplitAddr.  Table 5 has one more column, ASCII/Perl.  Times are in
 * microseconds.
 */
extern const double paper_table4[PAPER_ROWS][6][2];
extern const double paper_table5[PAPER_ROWS][7][2];
extern const double paper_table6[PAPER_ROWS][6][2];
/* The last row of table 6, "average difference". */
extern const double paper_table6_difference[6][2];

/*
 * Figures of the authors' talk: slide 13 for Simple Binary and ASCII, slide 25
 * for XML.
 */
extern const double paper_talk_binary, paper_talk_ascii, paper_talk_xml;

/* Columns: Naive, Small Size, Same Size, Combined Size. */
extern const double paper_table7[PAPER_ROWS][4][2];

/*
 * Columns: BaseOffset 1-byte, BaseOffset 2-bytes, Best BaseOffset, Stride, HATF
 * (best).
 */
extern const double paper_table8[PAPER_ROWS][5][2];

#endif /* PAPER_H */
