/* SPDX-License-Identifier: MIT */
/*
 * clashing.c - a program whose functions have names that libraries use
 *
 * Linked with -rdynamic, so that every look-up by name finds the function
 * here.  Only main() may be called; a call of any other function is an error.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Report the call and exit, by calls that are not recorded. */
#define TRAP(name)                                                \
	int name(void)                                            \
	{                                                         \
		static const char text[] = "called: " #name "\n"; \
		if (write(2, text, sizeof(text) - 1) < 0)         \
			_exit(98);                                \
		_exit(97);                                        \
	}

TRAP(deflate)
TRAP(deflateInit2_)
TRAP(deflateEnd)
TRAP(inflate)
TRAP(crc32)
TRAP(adler32)
TRAP(compress)
TRAP(zlibVersion)
TRAP(isal_deflate)
TRAP(isal_deflate_init)
TRAP(isal_deflate_stateless)
TRAP(isal_gzip_header_init)
TRAP(crc32_gzip_refl)
TRAP(unw_step)
TRAP(say)
TRAP(record_alloc)
TRAP(record_free)
TRAP(ring_push)
TRAP(encoder_put)
TRAP(encoder_init)
TRAP(layout_init)
TRAP(text_init)
TRAP(text_str)
TRAP(thread_attach)
TRAP(environment_read)
TRAP(output_open)
TRAP(output_write)
TRAP(writer_start)
TRAP(hatf_tag_name)
TRAP(hatf_attr_put)
TRAP(clock_init)
TRAP(order_init)
TRAP(spawn)

/* Names of variables clash as well. */
int thread_self = 1, thread_muted = 2, thread_unattached = 3;

int
main(void)
{
	for (int i = 0; i < 10000; i++)
		free(malloc((size_t)i));
	printf("%d\n", thread_self + thread_muted + thread_unattached);
	return 0;
}
