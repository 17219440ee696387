/* SPDX-License-Identifier: MIT */
/*
 * function_name.h - find the name in the text of a demangled function
 *
 * For a function template, a demangler of C++ prints the return type before the
 * name, and the parameters after it:
 *
 * 	std::vector<int>* app::make<int>(unsigned long) [clone .cold]
 *
 * The name is "app::make<int>", and without its last template arguments
 * "app::make".  A name can contain parameters of functions that enclose it:
 * "main::{lambda(int)#1}::operator()", "f(int)::local::run".  Demangled names
 * of Rust contain blanks and arrows in brackets, such as
 * "<app::Set as core::ops::Fn(u8) -> bool>::call".
 *
 * The text need not be well-formed.
 */
#ifndef FUNCTION_NAME_H
#define FUNCTION_NAME_H

#include <stdbool.h>
#include <stddef.h>

/* The bytes of a text that are the name.  They do not end in a NUL. */
struct function_name {
	const char *text;
	size_t nbytes;
	/* length of the name without its last template arguments */
	size_t bare_nbytes;
};

/* Find the name in 'function', in time linear in its length. */
struct function_name function_name_find(const char *function);

/*
 * Does a pattern of glob(7) match the whole text, its name, or the name without
 * its last template arguments?
 */
bool function_name_matches(const char *glob, const char *function);

#endif /* FUNCTION_NAME_H */
