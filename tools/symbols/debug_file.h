/* SPDX-License-Identifier: MIT */
/*
 * debug_file.h - find separate debug files without opening anything else
 *
 * libdwfl's own search also looks in the folder of the program, where a trace
 * and whoever wrote the program choose what it finds: a FIFO would stop us.
 * So libdwfl searches only the folders for debug files (DEBUG_FILE_PATH, and
 * what the user adds), and this module searches the program's folder.
 */
#ifndef DEBUG_FILE_H
#define DEBUG_FILE_H

#include <elfutils/libdwfl.h>
#include <stdbool.h>

/* Where libdwfl may search; all folders of its path must be absolute. */
#define DEBUG_FILE_PATH "/usr/lib/debug"

/* For Dwfl_Callbacks. */
int debug_file_find(Dwfl_Module *module, void **userdata, const char *name,
		    Dwarf_Addr base, const char *file, const char *link,
		    GElf_Word crc, char **path_ret);

/*
 * libdw opens the file that debug files share (see dwz(1)) when it first needs
 * it.  Is that a regular file, or none?
 */
bool debug_file_is_alt_safe(Dwfl_Module *module, Dwarf *dwarf);

#endif /* DEBUG_FILE_H */
