/* SPDX-License-Identifier: MIT */
/*
 * debug_file.h - find separate debug files, and open only regular files
 *
 * libdwfl's own search also looks in the folder of the program.  The author of
 * the trace or of the program may control that folder, and a FIFO in it would
 * block this process.  Therefore libdwfl searches only the folders for debug
 * files (DEBUG_FILE_PATH, and a folder that the user adds), and this module
 * searches the program's folder.
 */
#ifndef DEBUG_FILE_H
#define DEBUG_FILE_H

#include <elfutils/libdwfl.h>
#include <stdbool.h>

/*
 * The folders in which libdwfl searches, separated by colons; each must be an
 * absolute path.
 */
#define DEBUG_FILE_PATH "/usr/lib/debug"

/* Callback find_debuginfo of Dwfl_Callbacks (libdwfl.h). */
int debug_file_find(Dwfl_Module *module, void **userdata, const char *name,
		    Dwarf_Addr base, const char *file, const char *link,
		    GElf_Word crc, char **path_ret);

/*
 * Is it safe to use 'dwarf', the debug information of the module?  It may name
 * another file, which several debug files share (see dwz(1)).  libdw later
 * opens that file without a check.  So the answer is yes only if the file is
 * regular or does not exist, or if no file is named.
 */
bool debug_file_is_alt_safe(Dwfl_Module *module, Dwarf *dwarf);

#endif /* DEBUG_FILE_H */
