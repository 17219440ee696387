/* SPDX-License-Identifier: MIT */
/*
 * comment_text.c - see comment_text.h
 */
#include "hatf/codec/comment_text.h"

#include <string.h>

static const char hex_digits[] = "0123456789abcdef";

void
text_init(struct text *t, char *buf, size_t cap)
{
	t->buf = buf;
	t->cap = cap;
	t->used = 0;
	t->full = false;
}

void
text_bytes(struct text *t, const char *s, size_t nbytes)
{
	if (nbytes > t->cap - t->used) {
		t->full = true;
		return;
	}
	if (nbytes != 0)
		memcpy(t->buf + t->used, s, nbytes);
	t->used += nbytes;
}

void
text_str(struct text *t, const char *s)
{
	text_bytes(t, s, strlen(s));
}

void
text_u64(struct text *t, uint64_t n)
{
	char digits[20];
	size_t start = sizeof(digits);

	do {
		digits[--start] = (char)('0' + n % 10);
		n /= 10;
	} while (n != 0);
	text_bytes(t, digits + start, sizeof(digits) - start);
}

void
text_hex(struct text *t, uint64_t n)
{
	char digits[18];
	size_t start = sizeof(digits);

	do {
		digits[--start] = hex_digits[n & 15];
		n >>= 4;
	} while (n != 0);
	digits[--start] = 'x';
	digits[--start] = '0';
	text_bytes(t, digits + start, sizeof(digits) - start);
}

static bool
needs_escape(char c)
{
	return (unsigned char)c < 0x20 || c == 0x7f || c == '\\';
}

static void
put_escaped(struct text *t, char c)
{
	const char escape[4] = { '\\', 'x', hex_digits[(unsigned char)c >> 4],
				 hex_digits[c & 15] };

	if (needs_escape(c))
		text_bytes(t, escape, sizeof(escape));
	else
		text_bytes(t, &c, 1);
}

void
text_line(struct text *t, const char *key, const char *value,
	  size_t value_nbytes)
{
	const size_t used = t->used;
	const bool was_full = t->full;

	t->full = false;
	text_str(t, key);
	text_bytes(t, "=", 1);
	for (size_t i = 0; i < value_nbytes && !t->full; i++)
		put_escaped(t, value[i]);
	text_bytes(t, "\n", 1);
	if (t->full)
		t->used = used;
	t->full |= was_full;
}

void
text_line_u64(struct text *t, const char *key, uint64_t n)
{
	char digits[20];
	struct text value;

	text_init(&value, digits, sizeof(digits));
	text_u64(&value, n);
	text_line(t, key, digits, value.used);
}

void
text_line_hex(struct text *t, const char *key, uint64_t n)
{
	char digits[18];
	struct text value;

	text_init(&value, digits, sizeof(digits));
	text_hex(&value, n);
	text_line(t, key, digits, value.used);
}

static int
hex_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

/*
 * Return the character encoded at 's', and set '*nbytes_ret' to the length of
 * its encoding.  The text has 'left' bytes from 's' on.  A backslash that does
 * not begin an escape is an ordinary character.
 */
static char
unescape(const char *s, size_t left, size_t *nbytes_ret)
{
	*nbytes_ret = 1;
	if (left < 4 || s[0] != '\\' || s[1] != 'x')
		return s[0];

	const int high = hex_value(s[2]);
	const int low = hex_value(s[3]);

	if (high < 0 || low < 0)
		return s[0];
	*nbytes_ret = 4;
	return (char)(high << 4 | low);
}

static ptrdiff_t
copy_value(const char *s, size_t nbytes, char *out, size_t cap)
{
	size_t length = 0;
	size_t step;

	for (size_t i = 0; i < nbytes; i += step) {
		const char c = unescape(s + i, nbytes - i, &step);

		if (length + 1 < cap)
			out[length] = c;
		length++;
	}
	if (cap != 0)
		out[length < cap ? length : cap - 1] = '\0';
	return (ptrdiff_t)length;
}

ptrdiff_t
text_find(const char *comment, size_t nbytes, const char *key, char *out,
	  size_t cap)
{
	const size_t key_nbytes = strlen(key);
	size_t next = 0;

	while (next < nbytes) {
		const char *const line = comment + next;
		const char *const newline = memchr(line, '\n', nbytes - next);
		const size_t length = newline == NULL
					      ? nbytes - next
					      : (size_t)(newline - line);

		if (length > key_nbytes && line[key_nbytes] == '=' &&
		    memcmp(line, key, key_nbytes) == 0)
			return copy_value(line + key_nbytes + 1,
					  length - key_nbytes - 1, out, cap);
		next += length + 1;
	}
	return -1;
}

bool
text_find_u64(const char *comment, size_t nbytes, const char *key,
	      uint64_t *n_ret)
{
	char digits[32];
	const ptrdiff_t length =
		text_find(comment, nbytes, key, digits, sizeof(digits));
	uint64_t n = 0;

	if (length <= 0 || (size_t)length >= sizeof(digits))
		return false;
	for (ptrdiff_t i = 0; i < length; i++) {
		if (digits[i] < '0' || digits[i] > '9' ||
		    __builtin_mul_overflow(n, 10u, &n) ||
		    __builtin_add_overflow(n, (unsigned)(digits[i] - '0'), &n))
			return false;
	}
	*n_ret = n;
	return true;
}
