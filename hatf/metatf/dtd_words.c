/* SPDX-License-Identifier: MIT */
/* dtd_words.c - the names of dialects and interpretations, see dtd.h */
#include "hatf/metatf/dtd.h"

#include <string.h>

static const char *const interpretations[] = {
	NULL,	   "none",	    "baseOffset", "delta",
	"default", "sectionOffset", "stride",	  "sectionStride",
};

const char *
dtd_dialect_name(enum dtd_dialect dialect)
{
	static const char *const names[] = { "1.0", "1.1", "1.2" };

	return names[dialect];
}

const char *
dtd_interpretation_name(enum dtd_interpretation interpretation)
{
	return interpretations[interpretation];
}

unsigned
dtd_argument_count(enum dtd_interpretation interpretation)
{
	switch (interpretation) {
	case DTD_NONE:
		return 0;
	case DTD_STRIDE:
	case DTD_SECTION_STRIDE:
		return 2;
	default:
		return 1;
	}
}

static size_t
skip_blanks(const char *line, size_t nbytes)
{
	size_t i = 0;

	while (i < nbytes &&
	       (line[i] == ' ' || line[i] == '\t' || line[i] == '\r'))
		i++;
	return i;
}

bool
dtd_names_version(const char *line, size_t nbytes, enum dtd_dialect *dialect)
{
	static const char words[] = "Meta-TF version 1.";
	const size_t words_nbytes = sizeof(words) - 1;
	size_t i = skip_blanks(line, nbytes);

	if (nbytes - i < 2 || memcmp(line + i, "//", 2) != 0)
		return false;
	i += 2;
	i += skip_blanks(line + i, nbytes - i);
	if (nbytes - i <= words_nbytes ||
	    memcmp(line + i, words, words_nbytes) != 0)
		return false;
	i += words_nbytes;
	if (line[i] < '0' || line[i] > '2' ||
	    i + 1 + skip_blanks(line + i + 1, nbytes - i - 1) != nbytes)
		return false;
	*dialect = (enum dtd_dialect)(line[i] - '0');
	return true;
}
