/* SPDX-License-Identifier: MIT */
/* plot_text.c - see plot_text.h */
#include "tools/plot/plot_text.h"

#include "tools/ui/escape.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static const char dots[] = "\u2026";

/* ------------------------------------------------------------------- widths */

static bool
is_rest(char c)
{
	return ((unsigned char)c & 0xc0) == 0x80;
}

/*
 * 'c' is a byte of a character.  Return an estimate of the character's width,
 * as a fraction of the font size, if 'c' is the first byte; otherwise 0.  The
 * estimate errs on the large side.
 */
static double
width_of(char c)
{
	if (is_rest(c))
		return 0;
	if ((unsigned char)c >= 0xe0)
		return 1; /* U+0800 and above, including ideographs */
	if (strchr("ijlI.,:;'|! ()[]ft/\\", c) != NULL)
		return 0.4;
	if (strchr("mwMW@%", c) != NULL)
		return 0.95;
	return c >= 'A' && c <= 'Z' ? 0.7 : 0.62;
}

double
text_width(const char *text, double size)
{
	double sum = 0;

	for (; *text != '\0'; text++)
		sum += width_of(*text);
	return sum * size;
}

/*
 * Is the code point at 's' a noncharacter: U+FDD0 to U+FDEF, or U+FFFE or
 * U+FFFF of any plane?
 */
static bool
is_no_character(const char *s)
{
	const size_t n = (unsigned char)s[0] >= 0xf0 ? 4 : 3;

	if ((unsigned char)s[0] < 0xe0)
		return false;
	if (memcmp(s, "\xef\xb7", 2) == 0)
		return (unsigned char)s[2] >= 0x90 &&
		       (unsigned char)s[2] <= 0xaf;
	if ((unsigned char)s[n - 1] < 0xbe || (unsigned char)s[n - 2] != 0xbf)
		return false;
	return n == 3 ? (unsigned char)s[0] == 0xef : (s[1] & 0x0f) == 0x0f;
}

/*
 * Replace noncharacters in valid UTF-8 by U+FFFD.  The encoding of U+FFFD is
 * never longer than that of a noncharacter, so the text does not grow.
 */
static void
replace_no_characters(char *buf)
{
	char *to = buf;

	for (const char *at = buf; *at != '\0';) {
		if (!is_no_character(at)) {
			*to++ = *at++;
			continue;
		}
		at += (unsigned char)at[0] >= 0xf0 ? 4 : 3;
		memcpy(to, "\ufffd", 3);
		to += 3;
	}
	*to = '\0';
}

/* --------------------------------------------------------- parts of a name */

static void
append(char *buf, size_t *used, const char *text, size_t nbytes)
{
	if (nbytes >= PLOT_NAME_NBYTES - *used)
		return;
	memcpy(buf + *used, text, nbytes);
	*used += nbytes;
	buf[*used] = '\0';
}

/*
 * If a name ends in " (file:line)", return the blank at which this part begins.
 * Otherwise return the end of the name.
 */
static const char *
find_place(const char *name)
{
	const size_t n = strlen(name);
	const char *last = NULL;

	if (n == 0 || name[n - 1] != ')')
		return name + n;
	for (const char *at = name; (at = strstr(at, " (")) != NULL; at++)
		last = at;
	return last != NULL && strchr(last, ':') != NULL ? last : name + n;
}

/*
 * Append the text from 'from' to 'end'.  If the text is a path, append only its
 * last part.
 */
static void
copy_base(char *buf, size_t *used, const char *from, const char *end)
{
	const char *base = from;

	for (const char *at = from; at < end; at++)
		if (*at == '/')
			base = at + 1;
	append(buf, used, base, (size_t)(end - base));
}

/*
 * A name may begin with the path of a module, and end with the path of a file.
 * Remove the folders from both paths.
 */
static void
drop_folders(char *buf)
{
	char copy[PLOT_NAME_NBYTES];
	const char *const place = find_place(buf);
	size_t used = 0;

	copy[0] = '\0';
	if (buf[0] == '/') {
		copy_base(copy, &used, buf, place);
	} else {
		append(copy, &used, buf, (size_t)(place - buf));
	}
	if (*place != '\0') {
		append(copy, &used, " (", 2);
		copy_base(copy, &used, place + 2, place + strlen(place));
	}
	memcpy(buf, copy, used + 1);
}

/* Is '*at' a part of the name of an operator, such as '<' in "operator<"? */
static bool
is_operator(const char *name, const char *at)
{
	static const char word[] = "operator";

	while (at > name && strchr("<>()-=", at[-1]) != NULL)
		at--;
	return (size_t)(at - name) >= sizeof(word) - 1 &&
	       memcmp(at - (sizeof(word) - 1), word, sizeof(word) - 1) == 0;
}

/*
 * Replace the text between each outermost 'open' and its matching 'close' by
 * dots.  If the name was truncated (stack_view.h), 'close' may be missing.
 * Leave a name with an unmatched 'close' as it is.
 */
static void
drop_between(char *buf, char open, char close)
{
	char copy[PLOT_NAME_NBYTES];
	const char *const place = find_place(buf);
	size_t used = 0;
	unsigned depth = 0;

	copy[0] = '\0';
	for (const char *at = buf; at < place; at++) {
		const bool is_name = depth == 0 && is_operator(buf, at);

		if (*at == close && !is_name) {
			if (depth == 0)
				return;
			if (--depth == 0 && at[-1] != open)
				append(copy, &used, dots, sizeof(dots) - 1);
		}
		if (depth == 0)
			append(copy, &used, at, 1);
		if (*at == open && !is_name)
			depth++;
	}
	if (depth != 0)
		append(copy, &used, dots, sizeof(dots) - 1);
	append(copy, &used, place, strlen(place));
	memcpy(buf, copy, used + 1);
}

/*
 * Replace the middle of a name by dots, and keep about as much of its end as of
 * its start.
 */
static void
cut_middle(char *buf, double size, double width)
{
	const double ends = width - text_width(dots, size);
	char copy[PLOT_NAME_NBYTES];
	const char *head = buf, *tail = buf + strlen(buf);
	double sum = 0;
	size_t used = 0;

	while (tail > buf) {
		const double next = width_of(tail[-1]) * size;

		if (sum + next > ends * 0.5)
			break;
		sum += next;
		tail--;
	}
	while (is_rest(*tail))
		tail++;
	for (; head < tail; head++) {
		const double next = width_of(*head) * size;

		if (sum + next > ends)
			break;
		sum += next;
	}
	while (head > buf && is_rest(*head))
		head--;
	copy[0] = '\0';
	append(copy, &used, buf, (size_t)(head - buf));
	append(copy, &used, dots, sizeof(dots) - 1);
	append(copy, &used, tail, strlen(tail));
	memcpy(buf, copy, used + 1);
}

/* -------------------------------------------------------------------- names */

char *
text_shorten(const char *name, double size, double width, char *buf)
{
	escape_text(name, buf, PLOT_NAME_NBYTES - sizeof(dots));
	replace_no_characters(buf);
	drop_folders(buf);
	if (text_width(buf, size) > width)
		drop_between(buf, '<', '>');
	if (text_width(buf, size) > width)
		drop_between(buf, '(', ')');
	if (text_width(buf, size) > width)
		cut_middle(buf, size, width);
	return buf;
}

char *
text_program(const char *command, char *buf)
{
	const size_t n = strcspn(command, " ");
	size_t used = 0;

	buf[0] = '\0';
	copy_base(buf, &used, command, command + n);
	/* In a header's command line, "\x20" is a blank inside an argument. */
	for (char *at; (at = strstr(buf, "\\x20")) != NULL;) {
		*at = ' ';
		memmove(at + 1, at + 4, strlen(at + 4) + 1);
	}
	return buf;
}
