/* SPDX-License-Identifier: MIT */
/* recovery.c - see recovery.h */
#include "hatf/recover/recovery.h"

#include <errno.h>

enum hatf_status
recovery_fail(struct recovery *r, enum hatf_status status, uint64_t offset,
	      const char *field)
{
	*r->err = (struct hatf_error){
		.status = status,
		.sys_errno = status == HATF_IO ? errno : 0,
		.offset = offset,
		.file_offset = offset,
		.field = field,
	};
	return status;
}
