/* SPDX-License-Identifier: MIT */
/* heaptrack_lines.c - see heaptrack_lines.h */
#include "hatf/formats/heaptrack/heaptrack_lines.h"

uint8_t *
heaptrack_put_number(uint8_t *p, uint64_t n)
{
	static const char digits[] = "0123456789abcdef";
	const size_t count = (67u - (size_t)__builtin_clzll(n | 1)) / 4;

	for (size_t i = count; i-- > 0; n >>= 4)
		p[i] = (uint8_t)digits[n & 15];
	return p + count;
}

uint8_t *
heaptrack_put_numbers(uint8_t *p, const uint64_t *numbers, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		*p++ = ' ';
		p = heaptrack_put_number(p, numbers[i]);
	}
	return p;
}

void
heaptrack_begin_line(struct sink *s, char letter, const uint64_t *numbers,
		     size_t count)
{
	uint8_t *const start =
		outfile_room(&s->out, 1 + count * HEAPTRACK_NUMBER_NBYTES);

	start[0] = (uint8_t)letter;
	outfile_advance(&s->out, (size_t)(heaptrack_put_numbers(
						  start + 1, numbers, count) -
					  start));
}

void
heaptrack_put_line(struct sink *s, char letter, const uint64_t *numbers,
		   size_t count)
{
	heaptrack_begin_line(s, letter, numbers, count);
	outfile_bytes(&s->out, "\n", 1);
}

void
heaptrack_put_number_line(struct sink *s, char letter, uint64_t n)
{
	heaptrack_put_line(s, letter, &n, 1);
}

void
heaptrack_put_text(struct sink *s, const char *text, size_t nbytes)
{
	while (nbytes != 0) {
		const size_t n = nbytes < 4096 ? nbytes : 4096;
		uint8_t *const p = outfile_room(&s->out, n);

		for (size_t i = 0; i < n; i++)
			p[i] = text[i] == '\n' ? '?' : (uint8_t)text[i];
		outfile_advance(&s->out, n);
		text += n;
		nbytes -= n;
	}
}
