/* SPDX-License-Identifier: MIT */
/*
 * commands.h - the subcommands of 'hatf'
 *
 * Each is one file, tools/NAME.c ('formats' is formats.c), takes its own argc and argv (argv[0] is its
 * name) and returns the exit status: 0 fine, 1 bad input, 2 wrong usage.
 */
#ifndef COMMANDS_H
#define COMMANDS_H

int command_convert(int argc, char **argv);
int command_ctl(int argc, char **argv);
int command_dump(int argc, char **argv);
int command_formats(int argc, char **argv);
int command_info(int argc, char **argv);
int command_optimize(int argc, char **argv);
int command_record(int argc, char **argv);
int command_recover(int argc, char **argv);
int command_tables(int argc, char **argv);
int command_tree(int argc, char **argv);
int command_verify(int argc, char **argv);

#endif /* COMMANDS_H */
