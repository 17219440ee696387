/* SPDX-License-Identifier: MIT */
/* insides.h - report traced programs that have an allocator inside */
#ifndef INSIDES_H
#define INSIDES_H

#include "tools/recording/collect.h"

/*
 * Print a message for each executable that has its own allocator, once per
 * executable.
 */
void insides_report(const struct collection *c);

#endif /* INSIDES_H */
