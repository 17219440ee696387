/* SPDX-License-Identifier: MIT */
/* size_class.c - see size_class.h */
#include "hatf/formats/common/size_class.h"

#include "hatf/codec/comment_text.h"

void
size_class_name(unsigned c, char *buf, size_t cap)
{
	struct text t;

	text_init(&t, buf, cap - 1);
	if (c > 2) {
		text_u64(&t, ((uint64_t)1 << (c - 2)) + 1);
		text_str(&t, " to ");
	}
	text_u64(&t, c <= 2    ? c
		     : c == 65 ? UINT64_MAX
			       : (uint64_t)1 << (c - 1));
	text_str(&t, c == 1 ? " byte" : " bytes");
	buf[t.used] = '\0';
}
