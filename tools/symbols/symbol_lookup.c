/* SPDX-License-Identifier: MIT */
/* symbol_lookup.c - see symbol_lookup.h */
#ifdef HAVE_LIBDW
#include "tools/symbols/symbol_lookup.h"

#include "hatf/hatf.h"
#include "tools/symbols/debug_file.h"
#include "tools/symbols/demangle.h"
#include "tools/symbols/name_cache.h"
#include "tools/symbols/object_file.h"
#include "tools/symbols/scope_index.h"
#include "tools/symbols/symbol_index.h"
#include "tools/ui/message.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum state {
	UNOPENED,
	USABLE,
	MISSING, /* there is no such file, or it cannot be read */
	OTHER,	 /* the file's build id is not the one that the trace states */
};

struct object {
	char *path, *build_id;
	enum state state;
	/* the object has debug information that is safe to use */
	bool has_debug;
	Dwfl *dwfl;
	Dwfl_Module *module;
	struct scope_index index;
	struct symbol_index symbols;
	uint64_t count; /* number of addresses looked up in the object */
};

struct symbol_lookup {
	struct object *objects;
	int object_count, object_cap;
	char *debug_path;
	Dwfl_Callbacks callbacks;
	/*
	 * Demangled names, joined names and whole paths, valid as long as this
	 * struct.
	 */
	char **names;
	size_t name_count, name_cap;
	struct name_cache found;
};

struct symbol_lookup *
symbol_lookup_open(const struct symbol_lookup_options *options)
{
	struct symbol_lookup *const l = calloc(1, sizeof(*l));
	char dir[PATH_MAX];
	bool has_dir;

	if (l == NULL)
		return NULL;
	/*
	 * Use an absolute path, because libdwfl would look for a relative one
	 * beside the program.
	 */
	has_dir = options->debug_dir != NULL &&
		  realpath(options->debug_dir, dir) != NULL;
	if (asprintf(&l->debug_path, DEBUG_FILE_PATH "%s%s", has_dir ? ":" : "",
		     has_dir ? dir : "") < 0) {
		free(l);
		return NULL;
	}
	/*
	 * libdw asks the servers in DEBUGINFOD_URLS for debug files.  Unset
	 * this variable unless the caller wants that.
	 */
	if (!options->use_debuginfod)
		unsetenv("DEBUGINFOD_URLS");
	l->callbacks = (Dwfl_Callbacks){
		.find_debuginfo = debug_file_find,
		.section_address = dwfl_offline_section_address,
		.debuginfo_path = &l->debug_path,
	};
	return l;
}

void
symbol_lookup_close(struct symbol_lookup *l)
{
	if (l == NULL)
		return;
	for (int i = 0; i < l->object_count; i++) {
		free(l->objects[i].path);
		free(l->objects[i].build_id);
		scope_index_fini(&l->objects[i].index);
		symbol_index_fini(&l->objects[i].symbols);
		if (l->objects[i].dwfl != NULL)
			dwfl_end(l->objects[i].dwfl);
	}
	name_cache_free(&l->found);
	for (size_t i = 0; i < l->name_count; i++)
		free(l->names[i]);
	free(l->names);
	free(l->objects);
	free(l->debug_path);
	free(l);
}

int
symbol_lookup_object(struct symbol_lookup *l, const char *path,
		     const char *build_id)
{
	struct object *o;

	for (int i = 0; i < l->object_count; i++)
		if (strcmp(l->objects[i].path, path) == 0 &&
		    strcmp(l->objects[i].build_id, build_id) == 0)
			return i;
	if (l->object_count == l->object_cap) {
		const int cap = l->object_cap == 0 ? 16 : 2 * l->object_cap;

		o = reallocarray(l->objects, (size_t)cap, sizeof(*o));
		if (o == NULL)
			return -1;
		l->objects = o;
		l->object_cap = cap;
	}
	o = &l->objects[l->object_count];
	*o = (struct object){ .path = strdup(path),
			      .build_id = strdup(build_id) };
	if (o->path == NULL || o->build_id == NULL) {
		free(o->path);
		free(o->build_id);
		return -1;
	}
	return l->object_count++;
}

/*
 * Use the file at 'path' for the object, if it is of the right build.  Return
 * the object's new state.
 */
static enum state
use_file(struct symbol_lookup *l, struct object *o, const char *path)
{
	char resolved[PATH_MAX];
	int fd;

	/*
	 * Many libraries are symbolic links, which hatf_file_open_found()
	 * refuses.  So resolve the links first.
	 */
	if (realpath(path, resolved) == NULL ||
	    hatf_file_open_found(resolved, &fd, NULL) != HATF_OK)
		return MISSING;
	o->dwfl = dwfl_begin(&l->callbacks);
	if (o->dwfl == NULL) {
		close(fd);
		return MISSING;
	}
	dwfl_report_begin(o->dwfl);
	/* On success, dwfl_report_offline() takes ownership of 'fd'. */
	o->module = dwfl_report_offline(o->dwfl, resolved, resolved, fd);
	if (o->module == NULL)
		close(fd);
	dwfl_report_end(o->dwfl, NULL, NULL);
	if (o->module == NULL)
		return MISSING;
	return object_file_is_of_build(o->module, o->build_id) ? USABLE : OTHER;
}

static void
open_object(struct symbol_lookup *l, struct object *o)
{
	Dwarf_Addr bias;
	Dwarf *dwarf;
	char *path;

	o->state = MISSING;
	for (unsigned n = 0; o->state != USABLE; n++) {
		enum state state;

		path = object_file_candidate(o->path, o->build_id,
					     l->debug_path, n);
		if (path == NULL)
			break;
		state = use_file(l, o, path);
		free(path);
		/* If no file is usable, keep the state of the first one. */
		if (n == 0 || state == USABLE)
			o->state = state;
		if (state != USABLE && o->dwfl != NULL) {
			dwfl_end(o->dwfl);
			o->dwfl = NULL;
		}
	}
	if (o->state != USABLE)
		return;
	dwarf = dwfl_module_getdwarf(o->module, &bias);
	o->has_debug =
		dwarf != NULL && debug_file_is_alt_safe(o->module, dwarf);
}

/*
 * Let the lookup own a string, which symbol_lookup_close() frees.  If there is
 * no memory, free the string and return NULL.  'name' may be NULL.
 */
static const char *
keep(struct symbol_lookup *l, char *name)
{
	if (name == NULL)
		return NULL;
	if (l->name_count == l->name_cap) {
		const size_t cap = l->name_cap == 0 ? 256 : 2 * l->name_cap;
		char **const names =
			reallocarray(l->names, cap, sizeof(*names));

		if (names == NULL) {
			free(name);
			return NULL;
		}
		l->names = names;
		l->name_cap = cap;
	}
	l->names[l->name_count++] = name;
	return name;
}

/*
 * Return the demangled name; if 'name' is not mangled, or is NULL, return
 * 'name'.
 */
static const char *
readable(struct symbol_lookup *l, const char *name)
{
	char *const demangled = name != NULL ? demangle(name) : NULL;
	const char *const kept = keep(l, demangled);

	return kept != NULL ? kept : name;
}

/*
 * Return the declaration of a function in its class or namespace.  If '*die'
 * has no other declaration, return '*die' itself.
 */
static Dwarf_Die
declaration_of(Dwarf_Die *die)
{
	static const unsigned links[] = { DW_AT_abstract_origin,
					  DW_AT_specification };
	Dwarf_Die found = *die;

	for (int i = 0; i < 2; i++) {
		Dwarf_Attribute attr;
		Dwarf_Die next;

		if (dwarf_attr(&found, links[i], &attr) != NULL &&
		    dwarf_formref_die(&attr, &next) != NULL)
			found = next;
	}
	return found;
}

/*
 * Return the name of a C++ scope: a namespace, a class or a function.  Return
 * NULL for any other scope, or if a function has no name.
 */
static const char *
scope_name(Dwarf_Die *die)
{
	const char *const name = dwarf_diename(die);

	switch (dwarf_tag(die)) {
	case DW_TAG_namespace:
		return name != NULL ? name : "(anonymous namespace)";
	case DW_TAG_class_type:
	case DW_TAG_structure_type:
	case DW_TAG_union_type:
		return name != NULL ? name : "{lambda}";
	case DW_TAG_subprogram:
		return name;
	default:
		return NULL;
	}
}

/*
 * Return the demangled name of the symbol that contains 'address', if the
 * symbol's name is mangled as in C++; else NULL.
 */
static const char *
mangled_symbol(struct symbol_lookup *l, struct object *o, Dwarf_Addr address)
{
	const char *const name =
		symbol_index_find(&o->symbols, o->module, address);
	char *const stem = name != NULL && strncmp(name, "_Z", 2) == 0
				   ? strndup(name, strcspn(name, "."))
				   : NULL;
	const char *const kept = keep(l, stem);

	return kept != NULL ? readable(l, kept) : NULL;
}

/*
 * Join the names of a function and of the scopes around it with "::".  Return
 * NULL if there is no memory.
 */
static const char *
join_scopes(struct symbol_lookup *l, Dwarf_Die *scopes, int count)
{
	char *text = NULL;
	size_t nbytes;
	FILE *const f = open_memstream(&text, &nbytes);

	if (f == NULL)
		return NULL;
	for (int i = count - 1; i > 0; i--)
		if (scope_name(&scopes[i]) != NULL)
			fprintf(f, "%s::", scope_name(&scopes[i]));
	fputs(dwarf_diename(&scopes[0]), f);
	if (fclose(f) != 0) {
		free(text);
		return NULL;
	}
	return keep(l, text);
}

/* Is the entry in a unit of C, which has neither classes nor namespaces? */
static bool
is_in_c(Dwarf_Die *die)
{
	Dwarf_Die unit;

	if (dwarf_diecu(die, &unit, NULL, NULL) == NULL)
		return false;
	switch (dwarf_srclang(&unit)) {
	case DW_LANG_C:
	case DW_LANG_C89:
	case DW_LANG_C99:
	case DW_LANG_C11:
		return true;
	default:
		return false;
	}
}

/*
 * Return the name of a function that has no linkage name, such as a static
 * function of C++.  For a function in a class or namespace, this is the name in
 * the symbol table.  If such a function is inlined or is not in the table,
 * return the joined names of its scopes.
 */
static const char *
scoped_name(struct symbol_lookup *l, struct object *o, Dwarf_Addr address,
	    Dwarf_Die *die)
{
	Dwarf_Die declaration = declaration_of(die), *scopes = NULL;
	/*
	 * Do not call dwarf_getscopes_die() for C, which has no such scopes:
	 * the call would search the whole unit.
	 */
	const int count = is_in_c(&declaration)
				  ? 0
				  : dwarf_getscopes_die(&declaration, &scopes);
	const char *name = NULL;

	/*
	 * The first scope is the function itself, the last one is the
	 * compilation unit.  So a function with more than two scopes is in a
	 * class or namespace.
	 */
	if (count > 2 && dwarf_diename(&scopes[0]) != NULL) {
		if (dwarf_tag(die) == DW_TAG_subprogram)
			name = mangled_symbol(l, o, address);
		if (name == NULL)
			name = join_scopes(l, scopes, count);
	}
	free(scopes);
	return name != NULL ? name : dwarf_diename(die);
}

static const char *
function_of(struct symbol_lookup *l, struct object *o, Dwarf_Addr address,
	    Dwarf_Die *die)
{
	Dwarf_Attribute attr;
	const char *name = dwarf_formstring(
		dwarf_attr_integrate(die, DW_AT_linkage_name, &attr));

	if (name == NULL)
		name = dwarf_formstring(dwarf_attr_integrate(
			die, DW_AT_MIPS_linkage_name, &attr));
	return name != NULL ? readable(l, name)
			    : scoped_name(l, o, address, die);
}

static bool
is_function(Dwarf_Die *die)
{
	const int tag = dwarf_tag(die);

	return tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine ||
	       tag == DW_TAG_entry_point;
}

static uint64_t
number_of(Dwarf_Die *die, unsigned name)
{
	Dwarf_Attribute attr;
	Dwarf_Word n;

	return dwarf_formudata(dwarf_attr(die, name, &attr), &n) == 0 ? n : 0;
}

/*
 * Return the path of a source file.  If the compiler got a relative path, such
 * as "../src/parse.c", put the compiler's working directory in front of it.  Do
 * not change a name such as "<stdin>".  Do not change any path if the working
 * directory is unknown, or is a relative path, as after -fdebug-prefix-map.
 */
static const char *
whole_path(struct symbol_lookup *l, const char *directory, const char *file)
{
	const char *kept;
	char *path;

	if (file == NULL || file[0] == '/' || file[0] == '<' ||
	    directory == NULL || directory[0] != '/')
		return file;
	while (strncmp(file, "./", 2) == 0)
		file += 2;
	if (asprintf(&path, "%s/%s", directory, file) < 0)
		return file;
	kept = keep(l, path);
	return kept != NULL ? kept : file;
}

/* Return the working directory of the compiler; NULL if it is not known. */
static const char *
directory_of(Dwarf_Die *unit)
{
	Dwarf_Attribute attr;

	return dwarf_formstring(
		dwarf_attr_integrate(unit, DW_AT_comp_dir, &attr));
}

/* Store in 'caller' the file, line and column at which it calls 'inlined'. */
static void
set_call(struct symbol_lookup *l, Dwarf_Die *unit, Dwarf_Die *inlined,
	 struct symbol_lookup_name *caller)
{
	const uint64_t idx = number_of(inlined, DW_AT_call_file);
	Dwarf_Files *files;
	size_t count;

	if (dwarf_getsrcfiles(unit, &files, &count) == 0 && idx < count)
		caller->file =
			whole_path(l, directory_of(unit),
				   dwarf_filesrc(files, idx, NULL, NULL));
	caller->line = number_of(inlined, DW_AT_call_line);
	caller->column = number_of(inlined, DW_AT_call_column);
}

/* Set the source line of the instruction at 'address'. */
static void
set_line(struct symbol_lookup *l, struct object *o, Dwarf_Addr address,
	 struct symbol_lookup_name *name)
{
	Dwfl_Line *const known = dwfl_module_getsrc(o->module, address);
	int number = 0, column = 0;
	Dwarf_Line *line;
	Dwarf_Addr bias;
	Dwarf_Die *unit;

	if (known != NULL) {
		name->file = whole_path(l, dwfl_line_comp_dir(known),
					dwfl_lineinfo(known, NULL, &number,
						      &column, NULL, NULL));
	} else {
		unit = scope_index_unit(&o->index, o->module, address, &bias);
		line = unit == NULL ? NULL
				    : dwarf_getsrc_die(unit, address - bias);
		if (line == NULL)
			return;
		name->file = whole_path(l, directory_of(unit),
					dwarf_linesrc(line, NULL, NULL));
		dwarf_lineno(line, &number);
		dwarf_linecol(line, &column);
	}
	name->line = number > 0 ? (uint64_t)number : 0;
	name->column = column > 0 ? (uint64_t)column : 0;
}

/*
 * Store in '*around_ret', which the caller frees, the debugging entries around
 * an address of a unit, and return their number.  Try the index of the object
 * first, because dwarf_getscopes() and dwarf_getscopes_die() search the whole
 * unit.  If the index has no function at the address, dwarf_getscopes() finds
 * the innermost function, and dwarf_getscopes_die() the functions into which it
 * was inlined.
 */
static int
find_scopes(struct object *o, Dwarf_Die *unit, Dwarf_Addr address,
	    Dwarf_Die **around_ret)
{
	Dwarf_Die *scopes = NULL, innermost;
	int count = 0;

	*around_ret = calloc(SYMBOL_LOOKUP_NAMES_MAX, sizeof(**around_ret));
	if (*around_ret != NULL)
		count = (int)scope_index_functions(&o->index, unit, address,
						   *around_ret,
						   SYMBOL_LOOKUP_NAMES_MAX);
	if (count != 0)
		return count;
	free(*around_ret);
	*around_ret = NULL;
	if (dwarf_getscopes(unit, address, &scopes) > 1) {
		innermost = scopes[0];
		count = dwarf_getscopes_die(&innermost, around_ret);
	}
	free(scopes);
	return count;
}

/* Store the functions that the debug information lists around 'address'. */
static size_t
find_functions(struct symbol_lookup *l, struct object *o, Dwarf_Addr address,
	       struct symbol_lookup_name *names)
{
	Dwarf_Addr bias;
	Dwarf_Die *const unit =
		scope_index_unit(&o->index, o->module, address, &bias);
	Dwarf_Die *around = NULL;
	size_t n = 0;
	const int count =
		unit == NULL ? 0
			     : find_scopes(o, unit, address - bias, &around);

	for (int i = 0; i < count && n < SYMBOL_LOOKUP_NAMES_MAX; i++) {
		if (!is_function(&around[i]))
			continue;
		names[n].function = function_of(l, o, address, &around[i]);
		if (n == 0)
			set_line(l, o, address, &names[0]);
		n++;
		if (dwarf_tag(&around[i]) != DW_TAG_inlined_subroutine)
			break;
		if (n < SYMBOL_LOOKUP_NAMES_MAX)
			set_call(l, unit, &around[i], &names[n]);
	}
	free(around);
	return n;
}

/* Like symbol_lookup_find(), but for an open object, and without the cache. */
static size_t
find_names(struct symbol_lookup *l, struct object *o, uint64_t address,
	   struct symbol_lookup_name *names)
{
	GElf_Addr bias;
	size_t n = 0;

	memset(names, 0, SYMBOL_LOOKUP_NAMES_MAX * sizeof(*names));
	if (dwfl_module_getelf(o->module, &bias) == NULL)
		return 0;
	address += bias;
	if (o->has_debug)
		n = find_functions(l, o, address, names);
	/*
	 * Demangle the names from the debug information, because some
	 * compilers, such as OCaml's, write mangled names there.
	 */
	for (size_t i = 0; i < n; i++)
		names[i].function = readable(l, names[i].function);
	if (n != 0 && names[n - 1].function != NULL)
		return n;
	if (n == 0)
		n = 1;
	names[n - 1].function =
		readable(l, symbol_index_find(&o->symbols, o->module, address));
	if (n == 1 && o->has_debug && names[0].file == NULL)
		set_line(l, o, address, &names[0]);
	return names[n - 1].function != NULL || names[0].file != NULL ? n : 0;
}

size_t
symbol_lookup_find(struct symbol_lookup *l, int object, uint64_t address,
		   struct symbol_lookup_name names[SYMBOL_LOOKUP_NAMES_MAX])
{
	struct object *const o = &l->objects[object];
	size_t n;

	o->count++;
	if (o->state == UNOPENED)
		open_object(l, o);
	if (o->state != USABLE)
		return 0;
	if (name_cache_get(&l->found, object, address, names, &n))
		return n;
	n = find_names(l, o, address, names);
	name_cache_put(&l->found, object, address, names, n);
	return n;
}

/*
 * Return a text that says what is missing for an object; NULL if nothing is
 * missing.
 */
static const char *
missing_of(const struct object *o)
{
	switch (o->state) {
	case MISSING:
		return "the file cannot be read";
	case OTHER:
		return "the file is of another build";
	case USABLE:
		return o->has_debug ? NULL : "no debug information";
	default:
		return NULL;
	}
}

unsigned
symbol_lookup_report(const struct symbol_lookup *l, const char *path)
{
	unsigned count = 0;

	for (int i = 0; i < l->object_count; i++) {
		const struct object *const o = &l->objects[i];
		const char *const missing = missing_of(o);

		if (missing == NULL ||
		    (path != NULL && strcmp(o->path, path) != 0))
			continue;
		count++;
		message_print("%s: %s (build id in the trace: %s)",
			      message_path(o->path), missing,
			      o->build_id[0] != '\0' ? o->build_id : "unknown");
	}
	return count;
}

#else
/* Declare something, because ISO C forbids an empty file. */
extern int symbol_lookup_without_libdw;
#endif
