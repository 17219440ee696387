/* SPDX-License-Identifier: MIT */
/*
 * ringfile.h - the ring file, in which the rings outlive a kill
 *
 * Each process has one ring file.  The writer makes it together with the trace
 * file and removes it after the trailer of the trace.  Before the ring file
 * exists, events are in a ring in memory only, which the writer later moves
 * into the file.  image.h describes the content.
 *
 * The file must never end the program.  A page for which the disk has no room
 * would raise SIGBUS, so the writer reserves each page on the disk before any
 * thread accesses the page.  Rings therefore begin small, and the writer
 * extends them ahead of the producer.
 *
 * While there is a writer thread, only the writer opens and extends the file,
 * because the writer has its own descriptor table.  The writer keeps spare
 * rings for new threads.  A thread that finds no spare ring waits for the
 * writer, for at most two seconds.  If it still finds none, it gets a ring in
 * anonymous memory.  Such a ring differs in one respect: a kill loses its
 * events.  If the file cannot be made, all rings are in anonymous memory.
 *
 * The state is wiped in the child of a fork, which makes its own file.
 */
#ifndef RINGFILE_H
#define RINGFILE_H

#include <stdbool.h>
#include <stdint.h>

#include "hatf/recorder/config.h"
#include "hatf/rings/image.h"

/*
 * A ring of this many words, a power of two, has room for a block of events
 * that is being written and for the next block.  A smaller ring grows fourfold,
 * a ring of at least this size twofold.
 */
#define RINGFILE_USUAL_WORDS 131072u

/*
 * Prepare the state.  Call this before the first ring is taken.  There is no
 * file yet, so rings are in memory only.  Return false if there is no memory.
 */
bool ringfile_init(const struct config *config);

/*
 * Writer: make the file for the trace at 'trace_path', with a new ring for the
 * initial thread.  If 'will_adopt' is set, make no ring; the header then says
 * that one ring is not in the file, until ringfile_adopt().  If HATFTRACE_RINGS
 * is "none", make no file.  If the file cannot be made, continue without it,
 * and report this if HATFTRACE_RINGS is set or HATFTRACE_VERBOSE is 1.
 */
void ringfile_open(const struct config *config, const char *trace_path,
		   bool will_adopt);

/*
 * Writer, after a commit: move 'r', which is in memory only, to the end of the
 * file, and keep the ring's address.  The producer of 'r' must be waiting.  If
 * the move fails, 'r' stays where it is.
 *
 * If 'may_grow' is set, and the producer has filled much of the ring before the
 * writer came, give the ring a larger capacity.
 */
void ringfile_adopt(struct ring *r, bool may_grow);

/*
 * Writer: the trace at 'trace_path' begins after a time without a trace.  If no
 * ring file was made yet, make it.  If there is a ring file, store in the file
 * that the file now belongs to this trace.  If the ring file was removed, make
 * no other.  The rings that threads already have stay where they are.
 */
void ringfile_begin(const struct config *config, const char *trace_path);

/*
 * May the writer thread leave?  Without 'complete', the answer is yes if
 * ringfile_come_back() can find the file again, or if no file was made.  If
 * 'complete' is set, the file must exist and have all rings, because a kill
 * would lose the events of a ring outside the file.
 */
bool ringfile_can_leave(bool complete);

/*
 * Open the file, or its folder, again by name.  Return the descriptor, which
 * the caller closes, or -1.  Any thread may call these functions while there is
 * no writer thread.
 */
int ringfile_reopen(void);
int ringfile_reopen_folder(void);

/*
 * From now on, use these descriptors of the file and its folder.  A new writer
 * thread calls this if the process had no writer for a time.  If a descriptor
 * is -1, open the file or folder again.  If the file cannot be found, its rings
 * stay mapped and do not grow.
 */
void ringfile_come_back(int fd, int dir_fd);

/*
 * Return the path of the file, or NULL if no file was made.  The result is
 * valid until the file is removed.
 */
const char *ringfile_path(void);

/*
 * Any thread: take a ring of the file.  Wait for the writer if there is no
 * spare ring.  Return NULL if the caller must use anonymous memory instead.
 */
struct ring *ringfile_take(bool is_initial);

/*
 * Return whether a new thread may use this recycled ring.  If not, unmap the
 * ring.
 */
bool ringfile_may_reuse(struct ring *r);

/*
 * May a new thread take over this ring with its events?  The answer is no if
 * this ring is in memory only, and a new ring would be in the file: a kill
 * would then lose the events of this ring.
 */
bool ringfile_may_hand_over(const struct ring *r);

/* Count a ring in use that is not in the file. */
void ringfile_count_hidden(void);

/*
 * Count an event that could not be recorded at all.  Recovery then marks the
 * trace as incomplete.
 */
void ringfile_count_unattached(void);

/*
 * Any thread: announce a second thread, so that the writer keeps a spare ring.
 */
void ringfile_expect_thread(void);

/* Has ringfile_expect_thread() been called already, or is there no file? */
bool ringfile_expects_thread(void);

/* Writer: make the spare rings that threads wait for or will need. */
void ringfile_make_spares(void);

/*
 * Make the ring larger, but by at most 'room_words', if its producer waits for
 * room.  Return the number of added words.  The writer calls this.  If there is
 * no writer, and 'r' is in memory only, the producer of 'r' calls this.
 */
uint64_t ringfile_extend(struct ring *r, uint64_t room_words);

/*
 * Writer: release the memory of an unused ring: all of it if the ring is in
 * memory only, else the part above 'keep_words'.  If producers never wait
 * (HATFTRACE_FULL is "drop"), keep a ring of the file as it is.
 */
void ringfile_shrink(struct ring *r, uint64_t keep_words);

/* Writer: store a reading of the clocks in the file (image_note_reading()). */
void ringfile_note_reading(uint64_t stamp, uint64_t ns);

/*
 * Writer: commit a block that has reached the trace file.  Call
 * ringfile_commit_ring() for each ring, then ringfile_commit() with the path of
 * the trace file and the length and hash of its beginning (struct image_trace).
 * The producers may reuse the room of the committed events only after these
 * calls.
 */
void ringfile_commit_ring(struct ring *r, const struct order_producer *producer,
			  bool is_gone);
void ringfile_commit(struct image_commit *commit, const char *path,
		     uint64_t head_nbytes, uint64_t head_hash);

/*
 * Writer: store in the file that the next commit will be about the trace at
 * 'path'.  If the process is killed after it has made the trace's file, and
 * before that commit, recovery thus knows of the trace's file.
 */
void ringfile_announce(const char *path);

/*
 * Writer: remove the file; its mappings stay.  Call this when the trace has its
 * trailer, when the writer has given up the trace, or before the writer
 * installs a filter under which it could not remove the file.
 */
void ringfile_remove(void);

/*
 * Writer: the file was removed because the process was expected to end, but the
 * process continues.  Make a new file and move 'r' into it, as ringfile_adopt()
 * does.  'r' must be the only ring, and its producer must be waiting for the
 * writer.
 */
void ringfile_renew(struct ring *r, const char *trace_path);

/*
 * Writer: the process was expected to end, but continues.  If the ring file was
 * removed, report this under the same conditions as ringfile_open().
 */
void ringfile_tell_removed(void);

#endif /* RINGFILE_H */
