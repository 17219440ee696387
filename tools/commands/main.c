/* SPDX-License-Identifier: MIT */
/* main.c - the command 'hatf': find the subcommand and run it */
#include "hatf/hatf.h"
#include "tools/commands/commands.h"
#include "tools/ui/message.h"
#include "tools/ui/out.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

struct command {
	const char *name;
	const char *speaker; /* prefix of the command's messages: "hatf info" */
	const char *purpose;
	int (*run)(int argc, char **argv);
};

static const struct command commands[] = {
	{ "record", "hatf record", "run a command and trace its heap",
	  command_record },
	{ "ctl", "hatf ctl", "control the recorder of a running process",
	  command_ctl },
	{ "top", "hatf top", "watch the heap of a running process",
	  command_top },
	{ "report", "hatf report", "summarize a program's use of its heap",
	  command_report },
	{ "leaks", "hatf leaks",
	  "show the blocks live at the end, by call site", command_leaks },
	{ "stat", "hatf stat", "count allocations by site, thread, size, time",
	  command_stat },
	{ "diff", "hatf diff", "compare the heap before and after a change",
	  command_diff },
	{ "check", "hatf check", "check traces against limits and a baseline",
	  command_check },
	{ "plot", "hatf plot", "draw the heap over time as SVG or PNG",
	  command_plot },
	{ "info", "hatf info", "print statistics of a trace", command_info },
	{ "dump", "hatf dump", "print the records of a trace, one per line",
	  command_dump },
	{ "convert", "hatf convert", "write a trace in another format",
	  command_convert },
	{ "formats", "hatf formats", "list the formats and what each keeps",
	  command_formats },
	{ "metatf", "hatf metatf", "use trace formats that a DTD describes",
	  command_metatf },
	{ "optimize", "hatf optimize", "rewrite a trace in fewer bytes",
	  command_optimize },
	{ "recover", "hatf recover", "complete the trace of a killed process",
	  command_recover },
	{ "replay", "hatf replay", "replay a trace with several allocators",
	  command_replay },
	{ "symbolize", "hatf symbolize", "name the functions of call stacks",
	  command_symbolize },
	{ "tables", "hatf tables", "print the HATF paper's tables for traces",
	  command_tables },
	{ "tree", "hatf tree", "show the tree of the traced processes",
	  command_tree },
	{ "verify", "hatf verify", "check that a trace is legal and complete",
	  command_verify },
};
#define COMMAND_COUNT (sizeof(commands) / sizeof(commands[0]))

static int
print_help(void)
{
	struct out *const o = out_stdout();

	out_str(o, "Usage: hatf COMMAND [OPTIONS] [ARGS]\n"
		   "       hatf --help | --version\n\n"
		   "Record, read and check heap traces in HATF, the Heap "
		   "Allocation Trace Format.\n\nCommands:\n");
	for (size_t i = 0; i < COMMAND_COUNT; i++)
		out_printf(o, "  %-10s %s\n", commands[i].name,
			   commands[i].purpose);
	out_str(o, "\nOptions:\n"
		   "  -h, --help     print this\n"
		   "  -V, --version  print the version\n\n"
		   "For details, see 'hatf COMMAND --help', hatf(1) and "
		   "hatf-COMMAND(1).\n"
		   "Exit status: 0 if all is well, 1 for bad input, 2 for "
		   "wrong usage.\n"
		   "record: the exit status of the command that it runs.\n"
		   "check, diff, leaks and replay: 3 if a limit is exceeded.\n"
		   "check, diff and replay: 4 if a trace is incomplete.\n");
	return out_finish(o, EXIT_FINE);
}

/*
 * If a standard stream is closed, occupy its descriptor with /dev/null, so that
 * no other file gets this descriptor.  Using the stream still fails, because
 * standard input is opened only for writing and the others only for reading.
 * Programs that hatf runs do not inherit these descriptors.
 */
static void
occupy_streams(void)
{
	for (int fd = 0; fd <= STDERR_FILENO; fd++)
		/*
		 * open() returns 'fd', because 'fd' is the lowest descriptor
		 * that is free.
		 */
		if (fcntl(fd, F_GETFD) < 0)
			(void)!open("/dev/null",
				    (fd == 0 ? O_WRONLY : O_RDONLY) |
					    O_CLOEXEC);
}

/* Longer names of commands have no similar command. */
#define NAME_NBYTES 16

/*
 * Return how many characters must be inserted, removed or replaced to turn 'a'
 * into 'b', which is shorter than NAME_NBYTES.
 */
static unsigned
edit_distance(const char *a, const char *b)
{
	const unsigned n = (unsigned)strlen(b);
	unsigned costs[NAME_NBYTES]; /* from a prefix of 'a' to those of 'b' */

	for (unsigned i = 0; i <= n; i++)
		costs[i] = i;
	for (; *a != '\0'; a++) {
		unsigned diagonal = costs[0]++;

		for (unsigned i = 1; i <= n; i++) {
			unsigned cost = diagonal + (*a != b[i - 1]);

			diagonal = costs[i];
			if (diagonal + 1 < cost)
				cost = diagonal + 1;
			if (costs[i - 1] + 1 < cost)
				cost = costs[i - 1] + 1;
			costs[i] = cost;
		}
	}
	return costs[n];
}

/*
 * Return the command that the user may have meant by 'name': one that begins
 * with 'name', or else the one that differs least, by at most two characters
 * and by less than half of 'name'.  NULL: there is none.
 */
static const char *
similar_command(const char *name)
{
	const size_t length = strlen(name);
	const char *best = NULL;
	unsigned least = 3;

	if (length < 2 || length >= NAME_NBYTES)
		return NULL;
	for (size_t i = 0; i < COMMAND_COUNT; i++) {
		const unsigned n = edit_distance(name, commands[i].name);

		if (strncmp(name, commands[i].name, length) == 0)
			return commands[i].name;
		if (n < least && 2 * n < length) {
			least = n;
			best = commands[i].name;
		}
	}
	return best;
}

/* Report a first argument that is no command.  Return EXIT_USAGE. */
static int
refuse(const char *name)
{
	const char *const similar = similar_command(name);

	if (name[0] == '-')
		message_print("unknown option '%s' (see 'hatf --help')", name);
	else if (similar != NULL)
		message_print("unknown command '%s'; did you mean '%s'? (see "
			      "'hatf --help')",
			      name, similar);
	else
		message_print("unknown command '%s' (see 'hatf --help')", name);
	return EXIT_USAGE;
}

int
main(int argc, char **argv)
{
	const char *const name = argc > 1 ? argv[1] : NULL;

	occupy_streams();
	if (name == NULL) {
		message_print("a command is missing (see 'hatf --help')");
		return EXIT_USAGE;
	}
	for (size_t i = 0; i < COMMAND_COUNT; i++) {
		if (strcmp(name, commands[i].name) != 0)
			continue;
		message_set_command(commands[i].speaker);
		return commands[i].run(argc - 1, argv + 1);
	}
	if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 ||
	    strcmp(name, "help") == 0)
		return print_help();
	if (strcmp(name, "--version") == 0 || strcmp(name, "-V") == 0) {
		out_str(out_stdout(), "hatf " HATF_VERSION "\n");
		return out_finish(out_stdout(), EXIT_FINE);
	}
	return refuse(name);
}
