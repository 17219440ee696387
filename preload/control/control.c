/* SPDX-License-Identifier: MIT */
/* control.c - see control.h */

#include "preload/control/control.h"

#include "hatf/recorder/socket_path.h"
#include "hatf/recorder/status_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "preload/confine/landlock.h"
#include "preload/control/bells_map.h"
#include "preload/control/clients.h"
#include "preload/control/writer_sleep.h"
#include "preload/state/own_slot.h"
#include "preload/sys/file.h"
#include "preload/sys/memory.h"
#include "preload/sys/sys.h"

/*
 * Intervals at which the writer polls the socket while the program allocates:
 * with clients, and without clients.
 */
#define SERVE_CLIENTS_NS 1000000ull
#define SERVE_EVERY_NS	 10000000ull

_Static_assert(CLIENTS_MAX <= WRITER_SLEEP_FDS,
	       "the writer must be able to watch all clients");

static struct {
	/*
	 * does the process take orders?  After control_init(), only the writer
	 * changes this.
	 */
	_Atomic bool wanted;
	bool tried; /* has the writer tried to make the socket? */
	clients_obey *obey;
	char runtime[sizeof(((struct sockaddr_un *)NULL)->sun_path)];
	/* address of the socket; sun_path is "" if there is no socket */
	struct sockaddr_un address;
	uint32_t uid;
	int pid;      /* id of this process */
	int listener; /* descriptor of the socket; -1: no socket */
	int rules;    /* Landlock rules, see control_allow() */
	uint64_t served_ns;
	/*
	 * 'is_making' is set while a thread makes the socket or the status
	 * file.  'is_unlinked' is set when a thread of the program removes the
	 * socket; until control_close(), the writer must then make no other
	 * socket.
	 */
	_Atomic bool is_making, is_unlinked;
	/* The path of the status file, or "". */
	char status[sizeof(((struct sockaddr_un *)NULL)->sun_path)];
	/* mapping of the status file; it keeps the lock on the file */
	void *status_page;
	/* has this process taken orders by the bell before? */
	bool has_listened;
	uint64_t seen; /* the order that counts as seen, see own_slot_open() */
} c;

/*
 * Not wiped in the child of a fork, because the child has its parent's mapping.
 */
static struct bells_page bells;

/*
 * Not wiped in the child of a fork, because the flag applies to the child, too.
 */
static _Atomic bool is_forbidden;

void
control_init(bool wanted, char *const environment[], clients_obey *obey)
{
	static const char name[] = SOCKET_PATH_VARIABLE;
	const size_t n = sizeof(name) - 1;

	/*
	 * The child of a fork has its parent's slot and status page.  Drop
	 * both.
	 */
	own_slot_close();
	if (c.status_page != NULL)
		munmap(c.status_page, STATUS_FILE_NBYTES);
	memset(&c, 0, sizeof(c));
	/*
	 * relaxed: no other data depends on 'is_forbidden', and control_serve()
	 * reads 'is_forbidden' again.
	 */
	c.wanted = wanted &&
		   !atomic_load_explicit(&is_forbidden, memory_order_relaxed);
	c.obey = obey;
	c.listener = -1;
	clients_init(obey);
	writer_sleep_init();
	for (; environment != NULL && *environment != NULL; environment++) {
		const char *const value = *environment + n;

		if (strncmp(*environment, name, n) == 0 && value[0] == '/' &&
		    strlen(value) < sizeof(c.runtime))
			memcpy(c.runtime, value, strlen(value) + 1);
	}
}

void
control_begin(void)
{
	c.pid = sys_pid();
	writer_sleep_begin(c.wanted);
}

/* The socket -------------------------------------------------------------- */

/*
 * Make the directory unless it exists.  Return true if the directory belongs to
 * this user, and no other user has access to it.
 */
static bool
make_directory(const char *path)
{
	struct stat st;
	bool is_there = lstat(path, &st) == 0;

	/*
	 * Ignore EEXIST, because another process may make the directory at the
	 * same time.
	 */
	if (!is_there && errno == ENOENT &&
	    (syscall(SYS_mkdirat, AT_FDCWD, path, 0700) == 0 ||
	     errno == EEXIST))
		is_there = lstat(path, &st) == 0;
	return is_there && S_ISDIR(st.st_mode) && st.st_uid == c.uid &&
	       (st.st_mode & 077) == 0;
}

/*
 * Does a process of another container, with the same process id, already listen
 * at c.address?  Also return true if this test cannot open a socket.
 */
static bool
is_taken(socklen_t nbytes)
{
	const int probe =
		(int)syscall(SYS_socket, AF_UNIX,
			     SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	bool taken;

	if (probe < 0)
		return true;
	taken = syscall(SYS_connect, probe, &c.address, nbytes) == 0 ||
		errno == EAGAIN;
	syscall(SYS_close, probe);
	return taken;
}

/*
 * Listen at c.address.  Another process may remove a socket that refuses
 * connections, because that process assumes that the socket's owner has ended.
 * A socket refuses connections between bind() and listen().  So bind the socket
 * to another name first, and rename it when it listens.
 */
static bool
listen_at(int fd, size_t path_nbytes)
{
	static struct sockaddr_un first;
	const socklen_t nbytes =
		(socklen_t)(offsetof(struct sockaddr_un, sun_path) +
			    path_nbytes + 1);

	c.address.sun_family = AF_UNIX;
	if (is_taken(nbytes))
		return false;
	first = c.address;
	first.sun_path[path_nbytes - 1] = '-';
	syscall(SYS_unlinkat, AT_FDCWD, first.sun_path, 0);
	syscall(SYS_umask, 0177);
	if (syscall(SYS_bind, fd, &first, nbytes) != 0)
		return false;
	if (syscall(SYS_listen, fd, 64) == 0 &&
	    syscall(SYS_renameat2, AT_FDCWD, first.sun_path, AT_FDCWD,
		    c.address.sun_path, 0) == 0)
		return true;
	syscall(SYS_unlinkat, AT_FDCWD, first.sun_path, 0);
	return false;
}

/*
 * Make 'directory' unless it exists.  Build the path of the file in this
 * directory that is named by the process id and 'suffix'.  Return the length of
 * the path, or 0 on failure.
 */
static size_t
build_name(char *path, size_t cap, const char *directory, const char *suffix)
{
	struct text t;

	text_init(&t, path, cap - 1);
	text_str(&t, directory);
	path[t.used] = '\0';
	if (t.full || !make_directory(path))
		return 0;
	text_str(&t, "/");
	text_u64(&t, (uint64_t)c.pid);
	text_str(&t, suffix);
	path[t.used] = '\0';
	return t.full ? 0 : t.used;
}

/* Make the socket in 'directory'. */
static bool
open_in(const char *directory)
{
	size_t used;
	int fd;

	/*
	 * This changes only this thread's umask.  The directory gets mode 0700,
	 * the socket 0600.
	 */
	syscall(SYS_umask, 077);
	used = build_name(c.address.sun_path, sizeof(c.address.sun_path),
			  directory, SOCKET_PATH_SUFFIX);
	if (used == 0)
		return false;
	fd = file_above_standard(
		(int)syscall(SYS_socket, AF_UNIX,
			     SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
	if (fd < 0)
		return false;
	if (listen_at(fd, used)) {
		c.listener = fd;
		return true;
	}
	syscall(SYS_close, fd);
	return false;
}

/* Is XDG_RUNTIME_DIR a directory of this user that no other user can change? */
static bool
is_own_runtime(void)
{
	struct stat st;

	return c.runtime[0] != '\0' && lstat(c.runtime, &st) == 0 &&
	       S_ISDIR(st.st_mode) && st.st_uid == c.uid &&
	       (st.st_mode & 022) == 0;
}

/* The bell and the status file --------------------------------------------- */

static bool
map_bells_in(const char *directory)
{
	return make_directory(directory) &&
	       bells_map(&bells, directory, c.uid, (uint64_t)c.pid);
}

/*
 * Fill '*file' with the answer to 'hatf ctl PID status'.  Return how many bytes
 * of '*file' to write.
 */
static size_t
build_status(struct status_file *file)
{
	struct text t;

	memset(file, 0, offsetof(struct status_file, status));
	text_init(&t, file->status, sizeof(file->status));
	if (c.obey("status", &t) == NULL && !t.full)
		file->status_nbytes = (uint32_t)t.used;
	file->seen = c.seen;
	file->made_ns = sys_clock_ns(CLOCK_MONOTONIC);
	return offsetof(struct status_file, status) + file->status_nbytes;
}

static int
create_status(void)
{
	return (int)syscall(SYS_openat, AT_FDCWD, c.status,
			    O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW,
			    0600);
}

/*
 * Lock and write the status file, and map it so that the lock stays when 'fd'
 * is closed.  Return false on failure.
 */
static bool
write_status(int fd)
{
	MEMORY_LARGE static struct status_file file;
	const size_t used = build_status(&file);

	/*
	 * The mapping keeps the lock when the descriptor is closed.  A lock
	 * shows that the process exists.  Unlike a process id, the lock means
	 * the same in all PID namespaces.
	 */
	syscall(SYS_flock, fd, LOCK_EX | LOCK_NB);
	if (syscall(SYS_pwrite64, fd, &file, used, 0) != (long)used)
		return false;
	c.status_page =
		mmap(NULL, STATUS_FILE_NBYTES, PROT_READ, MAP_SHARED, fd, 0);
	if (c.status_page == MAP_FAILED)
		c.status_page = NULL;
	return c.status_page != NULL;
}

static void
remove_status(void)
{
	if (c.status[0] != '\0')
		syscall(SYS_unlinkat, AT_FDCWD, c.status, 0);
	c.status[0] = '\0';
}

static void
unmap_status(void)
{
	if (c.status_page != NULL)
		munmap(c.status_page, STATUS_FILE_NBYTES);
	c.status_page = NULL;
}

/* Make the status file in 'directory'. */
static bool
make_status_in(const char *directory)
{
	bool done;
	int fd;

	if (build_name(c.status, sizeof(c.status), directory,
		       SOCKET_PATH_STATUS_SUFFIX) == 0)
		return false;
	fd = create_status();
	/*
	 * Replace an existing file.  No other user can write to the directory,
	 * so the file belongs to a process of this user with the same process
	 * id, which has ended or is in another PID namespace.
	 */
	if (fd < 0 && errno == EEXIST) {
		syscall(SYS_unlinkat, AT_FDCWD, c.status, 0);
		fd = create_status();
	}
	if (fd < 0)
		return false;
	done = write_status(fd);
	syscall(SYS_close, fd);
	if (!done)
		syscall(SYS_unlinkat, AT_FDCWD, c.status, 0);
	return done;
}

/*
 * Call 'try' for the directories that 'hatf ctl' looks into, in the order of
 * socket_path.h, until 'try' returns true.  Return false if 'try' never does.
 */
static bool
try_directories(bool (*try)(const char *directory))
{
	char path[sizeof(c.runtime) + 32];
	struct text t;

	c.uid = (uint32_t)syscall(SYS_geteuid);
	for (unsigned i = 0; i < 3; i++) {
		text_init(&t, path, sizeof(path) - 1);
		if (i == 0 && !is_own_runtime())
			continue;
		if (i == 0)
			text_str(&t, c.runtime);
		else
			text_str(&t, i == 1 ? SOCKET_PATH_RUN "/"
					    : SOCKET_PATH_TMP
					     "/" SOCKET_PATH_PREFIX);
		if (i != 0)
			text_u64(&t, c.uid);
		if (i != 2)
			text_str(&t, SOCKET_PATH_FOLDER);
		path[t.used] = '\0';
		if (try(path))
			return true;
	}
	return false;
}

static bool
is_one_user(void)
{
	uid_t real, effective, saved;

	return syscall(SYS_getresuid, &real, &effective, &saved) == 0 &&
	       real == effective && real == saved;
}

/*
 * Make 'directory' unless it exists, and allow files and sockets in it by the
 * rules 'c.rules'.  Pass this function to try_directories().
 */
static bool
allow_in(const char *directory)
{
	syscall(SYS_umask, 077);
	if (!make_directory(directory))
		return false;
	landlock_allow_path(c.rules, directory, LANDLOCK_USE_FILES_SOCKETS);
	return true;
}

void
control_allow(int rules, bool is_changeable)
{
	/* relaxed: only the writer, which calls this, changes 'wanted'. */
	if (!atomic_load_explicit(&c.wanted, memory_order_relaxed) || rules < 0)
		return;
	c.rules = rules;
	try_directories(allow_in);
	if (!is_changeable && is_one_user())
		return;
	/*
	 * If the process has changed its user or may do so, the socket may be
	 * in the folder of another user.  Therefore also allow the use of the
	 * directories that contain the users' folders.
	 */
	if (c.runtime[0] != '\0')
		landlock_allow_path(rules, c.runtime,
				    LANDLOCK_USE_SOCKET_FOLDERS);
	landlock_allow_path(rules, SOCKET_PATH_RUN,
			    LANDLOCK_USE_SOCKET_FOLDERS);
	landlock_allow_path(rules, SOCKET_PATH_TMP,
			    LANDLOCK_USE_SOCKET_FOLDERS);
}

static void
open_socket(void)
{
	if (!try_directories(open_in))
		c.address.sun_path[0] = '\0';
}

static void
remove_socket(void)
{
	if (c.address.sun_path[0] != '\0')
		syscall(SYS_unlinkat, AT_FDCWD, c.address.sun_path, 0);
}

/*
 * Close the connections, and close and remove the socket.  control_serve() may
 * make a new socket later.
 */
static void
close_socket(void)
{
	remove_socket();
	clients_close();
	if (c.listener >= 0)
		syscall(SYS_close, c.listener);
	c.listener = -1;
	c.address.sun_path[0] = '\0';
	c.tried = false;
	c.served_ns = 0;
}

static bool
have_bells(void)
{
	return bells_are_mapped(&bells, (uint32_t)syscall(SYS_geteuid),
				(uint64_t)c.pid) ||
	       try_directories(map_bells_in);
}

static bool
listen_for_bell(bool is_leaving)
{
	/*
	 * seq_cst: see make_socket().  Take no orders by the bell if the real,
	 * effective and saved user ids differ.  Otherwise the effective user,
	 * who owns the file of bells, could truncate it, and SIGBUS would end a
	 * program that also belongs to another user.
	 */
	if (atomic_load_explicit(&c.is_unlinked, memory_order_seq_cst) ||
	    !is_one_user() || !have_bells())
		return false;
	/*
	 * Open the slot before the socket is removed, because a client that
	 * finds no socket writes its order into the file of bells.
	 */
	c.seen = own_slot_open(bells_slot(&bells, (uint64_t)c.pid),
			       !c.has_listened);
	c.has_listened = true;
	if (is_leaving && !try_directories(make_status_in)) {
		c.status[0] = '\0';
		control_stop_listening();
		return false;
	}
	close_socket();
	return true;
}

bool
control_listen(bool is_leaving)
{
	bool done;

	/*
	 * relaxed: this thread is the writer, or has called control_init() and
	 * not yet made the writer.
	 */
	if (!atomic_load_explicit(&c.wanted, memory_order_relaxed))
		return false;
	c.pid = sys_pid();
	/* seq_cst and release: see make_socket(). */
	atomic_store_explicit(&c.is_making, true, memory_order_seq_cst);
	done = listen_for_bell(is_leaving);
	atomic_store_explicit(&c.is_making, false, memory_order_release);
	return done;
}

void
control_stop_listening(void)
{
	own_slot_close();
	/*
	 * Unmap the file of bells.  If 'hatf ctl' found the mapping in /proc,
	 * it would conclude that the process takes orders by the bell.
	 */
	bells_unmap(&bells);
	remove_status();
	unmap_status();
}

void
control_inherit(bool is_dormant)
{
	own_slot_close();
	if (!is_dormant)
		bells_unmap(&bells);
	/* Forget the status file, because it belongs to the parent. */
	c.status[0] = '\0';
}

bool
control_is_busy(void)
{
	return clients_count() != 0;
}

/*
 * control_unlink() waits at most this long for a thread that is making a socket
 * or a status file.
 */
#define MAKING_NS 100000000ull

void
control_unlink(void)
{
	const uint64_t start = sys_clock_ns(CLOCK_MONOTONIC);

	/* seq_cst, the store and the load: see make_socket(). */
	atomic_store_explicit(&c.is_unlinked, true, memory_order_seq_cst);
	while (atomic_load_explicit(&c.is_making, memory_order_seq_cst) &&
	       sys_clock_ns(CLOCK_MONOTONIC) - start < MAKING_NS)
		sys_sleep(50000);
	remove_socket();
	remove_status();
	own_slot_close();
}

static void
make_socket(void)
{
	/*
	 * seq_cst, both accesses: either this thread sees 'is_unlinked', or the
	 * thread that has set 'is_unlinked' sees 'is_making', and waits.
	 */
	atomic_store_explicit(&c.is_making, true, memory_order_seq_cst);
	if (!atomic_load_explicit(&c.is_unlinked, memory_order_seq_cst))
		open_socket();
	/* release: this publishes the socket's address. */
	atomic_store_explicit(&c.is_making, false, memory_order_release);
}

void
control_close(void)
{
	/*
	 * Let control_serve() make a socket again if the process continues, for
	 * example after an exec that failed.  relaxed: no thread waits for this
	 * store.
	 */
	atomic_store_explicit(&c.is_unlinked, false, memory_order_relaxed);
	close_socket();
}

void
control_forbid(void)
{
	/* release: pairs with the acquire in control_serve(). */
	atomic_store_explicit(&is_forbidden, true, memory_order_release);
}

bool
control_is_over(void)
{
	/* acquire: pairs with the release in control_serve(). */
	return !atomic_load_explicit(&c.wanted, memory_order_acquire);
}

void
control_serve(uint64_t now_ns, bool open)
{
	/* acquire: pairs with the release in control_forbid(). */
	if (c.wanted &&
	    atomic_load_explicit(&is_forbidden, memory_order_acquire)) {
		control_close();
		writer_sleep_close();
		/* release: pairs with the acquire in control_is_over(). */
		atomic_store_explicit(&c.wanted, false, memory_order_release);
	}
	if (!c.wanted ||
	    now_ns - c.served_ns <
		    (clients_count() != 0 ? SERVE_CLIENTS_NS : SERVE_EVERY_NS))
		return;
	if (open && !c.tried) {
		c.tried = true;
		make_socket();
	}
	if (c.listener < 0)
		return;
	clients_serve(c.listener, c.uid, now_ns);
	c.served_ns = now_ns;
}

void
control_sleep(_Atomic uint32_t *word, uint32_t expected, uint64_t timeout_ns)
{
	int fds[CLIENTS_MAX];
	unsigned count = 0;

	if (c.listener >= 0) {
		count = clients_descriptors(c.listener, fds);
		if (timeout_ns > clients_patience_ns())
			timeout_ns = clients_patience_ns();
	}
	writer_sleep(word, expected, timeout_ns, fds, count);
	c.served_ns = 0;
}
