/* SPDX-License-Identifier: MIT */
/* streams.h - readers and writers on descriptors that the caller keeps */
#ifndef TESTS_STREAMS_H
#define TESTS_STREAMS_H

#include "hatf/hatf.h"

/* Like hatf_reader_open(), but sets the size and 'fd'. */
static inline enum hatf_status
reader_with(int fd, struct hatf_reader_options options,
	    struct hatf_reader **reader_ret, struct hatf_error *err)
{
	options.struct_nbytes = sizeof(options);
	options.fd = fd;
	return hatf_reader_open(NULL, &options, reader_ret, err);
}

/* Open a reader of a trace in 'format'; NULL: detect it. */
static inline enum hatf_status
reader_of_fd_as(int fd, const char *format, unsigned flags,
		struct hatf_reader **reader_ret, struct hatf_error *err)
{
	const struct hatf_reader_options options = {
		.format = format,
		.flags = flags,
	};

	return reader_with(fd, options, reader_ret, err);
}

static inline enum hatf_status
reader_of_fd(int fd, unsigned flags, struct hatf_reader **reader_ret,
	     struct hatf_error *err)
{
	return reader_of_fd_as(fd, NULL, flags, reader_ret, err);
}

/* Like hatf_writer_open(), but sets the size and 'fd'. */
static inline enum hatf_status
writer_of_fd(int fd, const struct hatf_writer_options *options,
	     struct hatf_writer **writer_ret, struct hatf_error *err)
{
	struct hatf_writer_options o = { .fd = fd };

	if (options != NULL)
		o = *options;
	o.struct_nbytes = sizeof(o);
	o.fd = fd;
	return hatf_writer_open(NULL, &o, writer_ret, err);
}

#endif /* TESTS_STREAMS_H */
