/* SPDX-License-Identifier: MIT */
/* insides.h - report traced programs that have an allocator inside */
#ifndef INSIDES_H
#define INSIDES_H

#include "tools/recording/collect.h"

/*
 * Among the executables of the command and of its descendants, find those that
 * have their own allocator.  Print one message for each of them.
 */
void insides_report(const struct collection *c);

#endif /* INSIDES_H */
