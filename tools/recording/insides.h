/* SPDX-License-Identifier: MIT */
/*
 * insides.h - which of the programs that were traced have an allocator inside?
 */
#ifndef INSIDES_H
#define INSIDES_H

#include "tools/recording/collect.h"

/* Name each such executable, once. */
void insides_report(const struct collection *c);

#endif /* INSIDES_H */
