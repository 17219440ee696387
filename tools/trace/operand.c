/* SPDX-License-Identifier: MIT */
/* operand.c - see operand.h */
#include "tools/trace/operand.h"

mode_t
operand_type(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 ? st.st_mode & S_IFMT : 0;
}
