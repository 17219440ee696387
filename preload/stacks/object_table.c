/* SPDX-License-Identifier: MIT */
/* object_table.c - see object_table.h */

#include "preload/stacks/object_table.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "preload/stacks/code_object.h"
#include "preload/stacks/stack_key.h"
#include "preload/stacks/stack_table.h"
#include "preload/stacks/unwind_rule.h"
#include "preload/sys/filter.h"
#include "preload/sys/memory.h"
#include "preload/sys/sys.h"

/* The kernel wipes this struct in the child of a fork. */
struct objects {
	_Atomic uint32_t lock;
	_Atomic uint32_t count; /* the highest number in use */
	_Atomic bool is_retired[STACK_IMAGE_OBJECTS_MAX];
	/* tables_hash() of each object without a build id */
	uint64_t tables_hash[STACK_IMAGE_OBJECTS_MAX];
	struct stack_image_object object[STACK_IMAGE_OBJECTS_MAX];
};

static struct objects *objects;

size_t
object_table_nbytes(void)
{
	return sizeof(*objects);
}

bool
object_table_init(void)
{
	if (objects == NULL)
		objects = memory_map_wiped(sizeof(*objects));
	return objects != NULL;
}

static uint32_t
count(void)
{
	/* acquire: pairs with the release in add(). */
	return atomic_load_explicit(&objects->count, memory_order_acquire);
}

static bool
is_retired(uint32_t id)
{
	/*
	 * relaxed: a thread that runs code of a new object has synchronized
	 * with the thread that retired the old object at this address, so it
	 * sees that the old object is retired.
	 */
	return atomic_load_explicit(&objects->is_retired[id],
				    memory_order_relaxed);
}

static void
retire(uint32_t id)
{
	atomic_store_explicit(&objects->is_retired[id], true,
			      memory_order_relaxed);
	stack_table_retire(id);
	unwind_forget_rules();
}

static uint32_t
find(uintptr_t address)
{
	for (uint32_t id = count(); id > 0; id--) {
		const struct stack_image_object *const o = &objects->object[id];

		if (address >= o->begin && address < o->end && !is_retired(id))
			return id;
	}
	return 0;
}

/* Return 'path' without "./" at its start. */
static const char *
without_dot(const char *path)
{
	return strncmp(path, "./", 2) == 0 ? path + 2 : path;
}

/*
 * Store the absolute path of the file that the relative 'path' names.  Return
 * false if the path is too long, or if there is no such file.  The file is
 * missing if the program has changed its working directory since it loaded the
 * object.
 */
static bool
set_absolute(struct stack_image_object *object, const char *path)
{
	const size_t cap = sizeof(object->path) - 1;
	const char *const name = without_dot(path);
	const size_t name_nbytes = strnlen(name, cap);
	/* The result counts the NUL, which the slash replaces. */
	const long nbytes = syscall(SYS_getcwd, object->path, cap);

	if (nbytes > 0 && object->path[0] == '/' &&
	    (size_t)nbytes + name_nbytes <= cap) {
		object->path[nbytes - 1] = '/';
		memcpy(object->path + nbytes, name, name_nbytes);
		object->path[(size_t)nbytes + name_nbytes] = '\0';
		if (syscall(SYS_faccessat, AT_FDCWD, object->path, F_OK) == 0)
			return true;
	}
	memset(object->path, 0, sizeof(object->path));
	return false;
}

/*
 * Store the path of an object.  For the program itself, the loader has no path,
 * so ask the kernel.
 */
static void
set_path(struct stack_image_object *object, const char *path)
{
	const size_t cap = sizeof(object->path) - 1;
	const int saved_errno = errno;

	if (path == NULL || path[0] == '\0') {
		if (syscall(SYS_readlinkat, AT_FDCWD, "/proc/self/exe",
			    object->path, cap) < 0)
			memset(object->path, 0, sizeof(object->path));
	} else if (path[0] == '/' || filter_is_expected() ||
		   !set_absolute(object, path)) {
		memcpy(object->path, path, strnlen(path, cap));
	}
	errno = saved_errno;
}

/* Can set_path() have stored 'stored' for the path 'path'? */
static bool
is_path(const char *stored, const char *path)
{
	const char *const name = without_dot(path);
	const size_t nbytes = strlen(stored), name_nbytes = strlen(name);

	if (path[0] == '\0' || strcmp(stored, path) == 0)
		return true;
	return path[0] != '/' && nbytes > name_nbytes &&
	       stored[nbytes - name_nbytes - 1] == '/' &&
	       strcmp(stored + nbytes - name_nbytes, name) == 0;
}

/*
 * tables_hash() reads at most this much of the unwind tables.  They begin with
 * a list of the object's functions.
 */
#define HASHED_NBYTES ((size_t)64 << 10)

/*
 * Return a hash of the object's unwind tables; 0 if it has none.  The hash
 * tells a library without a build id from another one with the same path.
 */
static uint64_t
tables_hash(const struct code_object *code)
{
	const uint8_t *at = code->section.index;
	uint64_t hash = 0, word;
	size_t left;

	if (at == NULL)
		return 0;
	left = (size_t)(code->section.end - at);
	if (left > HASHED_NBYTES)
		left = HASHED_NBYTES;
	for (; left >= sizeof(word); left -= sizeof(word), at += sizeof(word)) {
		memcpy(&word, at, sizeof(word));
		hash = stack_key_add(hash, word);
	}
	return hash;
}

static uint32_t
add(const struct code_object *code)
{
	/* relaxed: only the thread that holds the lock changes the count. */
	const uint32_t id =
		1 + atomic_load_explicit(&objects->count, memory_order_relaxed);
	struct stack_image_object *const o = &objects->object[id];
	const uint8_t *build_id;
	size_t nbytes = 0;

	for (uint32_t old = id - 1; old > 0; old--)
		if (!is_retired(old) &&
		    objects->object[old].begin < code->end &&
		    code->begin < objects->object[old].end)
			retire(old);
	if (id >= STACK_IMAGE_OBJECTS_MAX)
		return 0;
	o->begin = code->begin;
	o->end = code->end;
	o->base = code->base;
	set_path(o, code->path);
	build_id = code_object_build_id(code, &nbytes);
	if (build_id != NULL && nbytes <= sizeof(o->build_id)) {
		memcpy(o->build_id, build_id, nbytes);
		o->build_id_nbytes = (uint32_t)nbytes;
	} else {
		objects->tables_hash[id] = tables_hash(code);
	}
	/* release: a thread that sees the number sees the object. */
	atomic_store_explicit(&objects->count, id, memory_order_release);
	return id;
}

static void
lock(void)
{
	/* acquire: pairs with the release in unlock(). */
	while (atomic_exchange_explicit(&objects->lock, 1,
					memory_order_acquire) != 0)
		sched_yield();
}

static void
unlock(void)
{
	atomic_store_explicit(&objects->lock, 0, memory_order_release);
}

uint32_t
object_table_find(uintptr_t address)
{
	uint32_t id = find(address);
	struct code_object code;
	uint64_t mask;
	/*
	 * Do not hold our lock during this call, which may take the loader's
	 * lock.
	 */
	const bool is_found = code_object_find(address, &code);

	/*
	 * Retire an object that has been unloaded.  Generated code, or another
	 * object, may now be at its address.
	 */
	if (id != 0 && (!is_found || code.begin != objects->object[id].begin)) {
		retire(id);
		id = 0;
	}
	if (id != 0 || !is_found)
		return id;
	mask = sys_block_signals();
	lock();
	id = find(address);
	if (id == 0)
		id = add(&code);
	unlock();
	sys_restore_signals(mask);
	return id;
}

const struct stack_image_object *
object_table_get(uint32_t id)
{
	return &objects->object[id];
}

/* Is the object with this number still loaded at its address? */
static bool
is_there(uint32_t id)
{
	const struct stack_image_object *const o = &objects->object[id];
	uint8_t now[sizeof(o->build_id)] = { 0 };
	struct code_object code;
	const uint8_t *build_id;
	size_t nbytes = 0;

	if (!code_object_find(o->begin, &code) || code.begin != o->begin ||
	    code.end != o->end)
		return false;
	build_id = code_object_build_id(&code, &nbytes);
	if (build_id != NULL && nbytes <= sizeof(now))
		memcpy(now, build_id, nbytes);
	else if (tables_hash(&code) != objects->tables_hash[id])
		return false;
	return memcmp(now, o->build_id, sizeof(now)) == 0 &&
	       is_path(o->path, code.path);
}

void
object_table_check(void)
{
	if (objects == NULL)
		return;
	for (uint32_t id = count(); id > 0; id--) {
		if (!is_retired(id) && !is_there(id))
			retire(id);
	}
	/*
	 * If all numbers are used, some objects may have got none.  Such
	 * objects cannot be retired one by one, so forget what is known about
	 * all code.
	 */
	if (count() == STACK_IMAGE_OBJECTS_MAX - 1) {
		stack_table_begin_epoch();
		unwind_forget_rules();
	}
}
