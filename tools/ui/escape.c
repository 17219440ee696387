/* SPDX-License-Identifier: MIT */
/* escape.c - see escape.h */
#include "tools/ui/escape.h"

#include <stdlib.h>
#include <string.h>

/*
 * Decode one UTF-8 character.  Return its length, or 0 if the bytes are not
 * valid UTF-8: truncated, overlong, a surrogate or above U+10FFFF.
 */
static size_t
utf8_decode(const uint8_t *s, size_t nbytes, uint32_t *char_ret)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	size_t len;
	uint32_t c;

	if (s[0] < 0x80) {
		*char_ret = s[0];
		return 1;
	}
	if (s[0] >= 0xc2 && s[0] < 0xe0) {
		len = 2;
		c = s[0] & 0x1fu;
	} else if (s[0] >= 0xe0 && s[0] < 0xf0) {
		len = 3;
		c = s[0] & 0x0fu;
	} else if (s[0] >= 0xf0 && s[0] < 0xf5) {
		len = 4;
		c = s[0] & 0x07u;
	} else {
		return 0;
	}
	if (nbytes < len)
		return 0;
	for (size_t i = 1; i < len; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (s[i] & 0x3fu);
	}
	if (c < least[len] || (c >= 0xd800 && c < 0xe000) || c > 0x10ffff)
		return 0;
	*char_ret = c;
	return len;
}

/* Would a terminal interpret the character instead of showing it? */
static bool
is_control(uint32_t c)
{
	return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x200e ||
	       c == 0x200f || (c >= 0x2028 && c <= 0x202e) ||
	       (c >= 0x2066 && c <= 0x2069);
}

static size_t
put_hex(uint8_t byte, char *out)
{
	static const char digits[] = "0123456789abcdef";

	out[0] = '\\';
	out[1] = 'x';
	out[2] = digits[byte >> 4];
	out[3] = digits[byte & 15];
	return 4;
}

size_t
escape_next(const uint8_t *s, size_t nbytes, bool quoted,
	    char out[ESCAPE_MAX_NBYTES], size_t *out_nbytes_ret)
{
	uint32_t c;
	const size_t len = utf8_decode(s, nbytes, &c);
	size_t n = 0;

	if (len == 0) {
		*out_nbytes_ret = put_hex(s[0], out);
		return 1;
	}
	if (quoted && (c == '"' || c == '\\' || c == '\n')) {
		out[0] = '\\';
		out[1] = (char)(c == '\n' ? 'n' : c);
		n = 2;
	} else if (is_control(c)) {
		for (size_t i = 0; i < len; i++)
			n += put_hex(s[i], out + n);
	} else {
		memcpy(out, s, len);
		n = len;
	}
	*out_nbytes_ret = n;
	return len;
}

char *
escape_text(const char *s, char *out, size_t cap)
{
	size_t left = strlen(s), used = 0;

	while (left > 0) {
		char piece[ESCAPE_MAX_NBYTES];
		size_t n;
		const size_t taken =
			escape_next((const uint8_t *)s, left, false, piece, &n);

		if (n >= cap - used)
			break;
		memcpy(out + used, piece, n);
		used += n;
		s += taken;
		left -= taken;
	}
	out[used] = '\0';
	return out;
}

size_t
escape_find(const char *s, uint32_t *char_ret, size_t *length_ret)
{
	size_t n = 0, length = 0;

	while (s[n] != '\0') {
		length = utf8_decode((const uint8_t *)s + n, strnlen(s + n, 4),
				     char_ret);
		if (length == 0 || is_control(*char_ret))
			break;
		n += length;
		length = 0;
	}
	*length_ret = length;
	return n;
}

char *
escape_utf8(const char *s)
{
	const size_t nbytes = strlen(s);
	/* An invalid byte becomes four bytes. */
	char *const copy = malloc(4 * nbytes + 1);
	size_t used = 0;

	if (copy == NULL)
		return NULL;
	for (size_t i = 0; i < nbytes;) {
		uint32_t c;
		const size_t len =
			utf8_decode((const uint8_t *)s + i, nbytes - i, &c);

		if (len == 0) {
			used += put_hex((uint8_t)s[i++], copy + used);
			continue;
		}
		memcpy(copy + used, s + i, len);
		used += len;
		i += len;
	}
	copy[used] = '\0';
	return copy;
}
