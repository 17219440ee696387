/* SPDX-License-Identifier: MIT */
/*
 * ringfile.h - the file of the rings, in which they outlive a kill
 *
 * One for each process, made together with its trace file and removed after the
 * trailer.  Events from before it was made are in memory only, and move into
 * it.  image.h describes its content.  The file must never end the program:
 * every page has its place on the disk before anybody touches it (a page that
 * the disk has no room for would be a SIGBUS), so rings begin small and are
 * extended ahead of the producer.
 *
 * Only the writer thread, whose descriptor table is its own, works with the
 * file.  It keeps spare rings for new threads; a thread that finds none waits
 * for a moment, and then gets anonymous memory: such a ring is as good until
 * the process is killed.  All rings are in such memory where there can be no
 * file.
 *
 * The state is wiped in the child of a fork, which makes a file of its own.
 */
#ifndef RINGFILE_H
#define RINGFILE_H

#include <stdbool.h>
#include <stdint.h>

#include "hatf/recorder/config.h"
#include "hatf/rings/image.h"

/*
 * With so many words, a power of two, a block of events leaves room for the
 * next one.  A ring that has less grows fast.
 */
#define RINGFILE_USUAL_WORDS 131072u

/*
 * Before the first ring is taken: there is no file yet, so rings are in memory
 * only.  False: there is no memory at all.
 */
bool ringfile_init(const struct config *config);

/*
 * Writer: make the file for the trace at 'trace_path', with a new ring for the
 * initial thread.  With 'will_adopt' without that ring; until ringfile_adopt()
 * the file then says that a ring is elsewhere.  Where a file is impossible, or
 * not wanted, there is none; a line says so if the user asked for one.
 */
void ringfile_open(const struct config *config, const char *trace_path,
		   bool will_adopt);

/*
 * Writer, after a commit: 'r', in memory only, whose producer waits, moves into
 * the file, at the address that it has.
 */
void ringfile_adopt(struct ring *r);

/*
 * Writer: the trace at 'trace_path' begins after a time without one.  Make the
 * file if there is none yet, or note of which trace it is from now on.  Rings
 * that threads have from before are as they are.
 */
void ringfile_begin(const struct config *config, const char *trace_path);

/*
 * Would ringfile_come_back() find the file again?  With 'complete' all rings
 * must be in it as well, so that events recorded without a writer thread
 * outlive a kill.
 */
bool ringfile_can_leave(bool complete);

/*
 * The file once more, by its name, and its folder; -1: no.  Any thread, while
 * there is no writer thread.
 */
int ringfile_reopen(void);
int ringfile_reopen_folder(void);

/*
 * Writer thread, after a time without one: use these descriptors, or for -1
 * open the file again.  A file that cannot be found stays mapped, and does not
 * grow.
 */
void ringfile_come_back(int fd, int dir_fd);

/* Its name, NULL: there is none.  Valid until ringfile_remove(). */
const char *ringfile_path(void);

/* Take a ring for a thread.  NULL: use anonymous memory instead. */
struct ring *ringfile_take(bool is_initial);

/* May a ring whose life has ended be used again?  If not, it is unmapped. */
bool ringfile_may_reuse(struct ring *r);

/*
 * May a new thread take over this ring with its events?  Not if the ring would
 * be lost in a kill while a new ring would not.
 */
bool ringfile_may_hand_over(const struct ring *r);

/* Count a ring in use that is not in the file. */
void ringfile_count_hidden(void);

/* Count an event that could not be recorded at all. */
void ringfile_count_unattached(void);

/* There will be a second thread: have a spare ring for it. */
void ringfile_expect_thread(void);

/* Has ringfile_expect_thread() been called already, or is there no file? */
bool ringfile_expects_thread(void);

/* Writer: make the spare rings that are wanted. */
void ringfile_make_spares(void);

/*
 * Writer, or where there is none and 'r' is in memory only, its producer: make
 * the ring larger if its producer waits for room.
 */
void ringfile_extend(struct ring *r);

/* Writer: give back the memory of an unused ring above 'keep_words'. */
void ringfile_shrink(struct ring *r, uint64_t keep_words);

/* Writer: the clocks have been read; see image_note_reading(). */
void ringfile_note_reading(uint64_t stamp, uint64_t ns);

/*
 * Writer: a block has reached the trace file.  For each ring, then for the
 * whole (the file's name and what it begins with: struct image_trace), then
 * give the rings' room back.
 */
void ringfile_commit_ring(struct ring *r, const struct order_source *source,
			  bool is_gone);
void ringfile_commit(struct image_commit *commit, const char *path,
		     uint64_t head_nbytes, uint64_t head_hash);

/*
 * Writer: the next commit will be about the trace at 'path', of which there may
 * be something before that.
 */
void ringfile_announce(const char *path);

/* Writer: the trace has its trailer, or never will: remove the file. */
void ringfile_remove(void);

/*
 * Writer: the process goes on after all.  Make a new file and put 'r', the one
 * ring that there is, whose producer waits for us, into it in place.
 */
void ringfile_renew(struct ring *r, const char *trace_path);

/* Writer: the process goes on after all, without the file: report that. */
void ringfile_tell_removed(void);

#endif /* RINGFILE_H */
