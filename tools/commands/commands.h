/* SPDX-License-Identifier: MIT */
/*
 * commands.h - the subcommands of 'hatf'
 *
 * Each subcommand is one file, tools/commands/NAME.c.  A subcommand gets an
 * argc and argv of its own, in which argv[0] is the name of the subcommand.  It
 * returns the exit status (tools/ui/message.h), and prints errors on standard
 * error.
 */
#ifndef COMMANDS_H
#define COMMANDS_H

int command_check(int argc, char **argv);
int command_convert(int argc, char **argv);
int command_ctl(int argc, char **argv);
int command_diff(int argc, char **argv);
int command_dump(int argc, char **argv);
int command_formats(int argc, char **argv);
int command_info(int argc, char **argv);
int command_leaks(int argc, char **argv);
int command_metatf(int argc, char **argv);
int command_optimize(int argc, char **argv);
int command_plot(int argc, char **argv);
int command_record(int argc, char **argv);
int command_recover(int argc, char **argv);
int command_replay(int argc, char **argv);
int command_report(int argc, char **argv);
int command_stat(int argc, char **argv);
int command_symbolize(int argc, char **argv);
int command_tables(int argc, char **argv);
int command_top(int argc, char **argv);
int command_tree(int argc, char **argv);
int command_verify(int argc, char **argv);

#endif /* COMMANDS_H */
