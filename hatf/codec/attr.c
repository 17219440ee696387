/* SPDX-License-Identifier: MIT */
/*
 * attr.c - write and read the items in the attributes of a record; see hatf.h
 * and FORMAT "Attributes"
 */
#include "hatf/hatf.h"

#include <string.h>

/* The two highest bits of an item's key give the kind of the item's value. */
enum kind {
	KIND_FLAG = 0,
	KIND_NUMBER = 1,
	KIND_BYTES = 2,
};

static unsigned
key_kind(uint8_t key)
{
	return key >> 6;
}

/*
 * Read a ULEB128 number.  Each byte has 7 bits of the number, the lowest first.
 * The top bit of a byte is set if another byte follows.  Return false if the
 * number is truncated, above 2^64 - 1, or longer than 10 bytes.
 */
static bool
get_uleb(const uint8_t **next, const uint8_t *end, uint64_t *n_ret)
{
	const uint8_t *p = *next;
	uint64_t n = 0;

	for (unsigned shift = 0; p != end; shift += 7) {
		const uint8_t byte = *p++;
		const uint64_t bits = byte & 0x7f;

		if (shift > 63 || (shift == 63 && bits > 1))
			return false;
		n |= bits << shift;
		if (byte < 0x80) {
			*next = p;
			*n_ret = n;
			return true;
		}
	}
	return false;
}

static size_t
put_uleb(uint8_t *p, uint64_t n)
{
	size_t nbytes = 0;

	while (n >= 0x80) {
		p[nbytes++] = (uint8_t)(n | 0x80);
		n >>= 7;
	}
	p[nbytes++] = (uint8_t)n;
	return nbytes;
}

bool
hatf_attr_next(const uint8_t **next, const uint8_t *end,
	       struct hatf_attr_item *item_ret)
{
	const uint8_t *p = *next;
	struct hatf_attr_item item = { 0 };
	uint64_t nbytes;

	if (p == end)
		return false;
	item.key = *p++;
	switch (key_kind(item.key)) {
	case KIND_FLAG:
		break;
	case KIND_NUMBER:
		if (!get_uleb(&p, end, &item.value))
			return false;
		break;
	case KIND_BYTES:
		if (!get_uleb(&p, end, &nbytes) || nbytes > (size_t)(end - p))
			return false;
		item.text = p;
		item.text_nbytes = (size_t)nbytes;
		p += item.text_nbytes;
		break;
	default:
		return false;
	}
	*next = p;
	*item_ret = item;
	return true;
}

bool
hatf_attr_put(uint8_t *buf, size_t cap, size_t *used,
	      const struct hatf_attr_item *item)
{
	const unsigned kind = key_kind(item->key);
	const size_t text_nbytes = kind == KIND_BYTES ? item->text_nbytes : 0;
	uint8_t head[11];
	size_t head_nbytes = 1;

	head[0] = item->key;
	if (kind == KIND_NUMBER)
		head_nbytes += put_uleb(head + 1, item->value);
	else if (kind == KIND_BYTES)
		head_nbytes += put_uleb(head + 1, text_nbytes);
	else if (kind != KIND_FLAG)
		return false;

	if (head_nbytes > cap - *used ||
	    text_nbytes > cap - *used - head_nbytes)
		return false;
	memcpy(buf + *used, head, head_nbytes);
	if (text_nbytes != 0)
		memcpy(buf + *used + head_nbytes, item->text, text_nbytes);
	*used += head_nbytes + text_nbytes;
	return true;
}
