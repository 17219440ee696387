/* SPDX-License-Identifier: MIT */
/*
 * object_file.h - where the file of a program or library may be
 *
 * A trace has the path and the build id of each object.  The file at that path
 * may be gone or replaced, because a trace is often read on another machine.
 * If so, 'hatf' can use another file of the same build, from one of the folders
 * for debug files.  The other file may be a separate debug file, which has the
 * same symbols at the same addresses.
 */
#ifndef OBJECT_FILE_H
#define OBJECT_FILE_H

#include <elfutils/libdwfl.h>
#include <stdbool.h>

/*
 * Return path number 'n' of the paths to try, from 0.  The caller frees this
 * string.  Return NULL if there are fewer paths, or if there is no memory.
 * Path 0 is 'path' itself.  The others are, for each folder in 'folders', which
 * are separated by colons:
 *
 *   FOLDER/.build-id/xx/yyy.debug, FOLDER/.build-id/xx/yyy
 *   FOLDER/PATH
 *   FOLDER/NAME, if NAME is the last part of PATH
 *
 * 'build_id' is in hexadecimal digits.  If it is "", only 'path' is tried,
 * since nothing tells whether another file is of the same build.
 */
char *object_file_candidate(const char *path, const char *build_id,
			    const char *folders, unsigned n);

/* Does the module have this build id?  Return true if 'build_id' is "". */
bool object_file_is_of_build(Dwfl_Module *module, const char *build_id);

#endif /* OBJECT_FILE_H */
