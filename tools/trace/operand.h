/* SPDX-License-Identifier: MIT */
/* operand.h - what kind of file an operand names */
#ifndef OPERAND_H
#define OPERAND_H

#include <sys/stat.h>

/*
 * Return the type of the file that an operand names, such as S_IFDIR.  Return 0
 * if stat() fails.
 */
mode_t operand_type(const char *path);

#endif /* OPERAND_H */
