/* SPDX-License-Identifier: MIT */
/* environment.c - see environment.h */
#include "preload/config/environment.h"

#include <string.h>

#include "preload/config/note_writer.h"
#include "preload/sys/memory.h"
#include "preload/sys/say.h"

/*
 * Store in 'value_ret' the value of each variable of the recorder, or NULL if
 * the variable is not set.  If a variable is set twice, the first value counts.
 */
static void
find_values(char *const environment[],
	    const char *value_ret[CONFIG_VARIABLE_COUNT])
{
	memset(value_ret, 0, CONFIG_VARIABLE_COUNT * sizeof(value_ret[0]));
	for (; environment != NULL && *environment != NULL; environment++) {
		const size_t i = config_find_variable(*environment);

		if (i != CONFIG_VARIABLE_COUNT && value_ret[i] == NULL)
			value_ret[i] = *environment +
				       strlen(config_variable_name(i)) + 1;
	}
}

/*
 * Does valgrind run the program?  Valgrind adds a library of its own to
 * LD_PRELOAD.
 */
static bool
is_under_valgrind(char *const environment[])
{
	static const char variable[] = "LD_PRELOAD=";

	for (; environment != NULL && *environment != NULL; environment++)
		if (strncmp(*environment, variable, sizeof(variable) - 1) == 0)
			return strstr(*environment, "/vgpreload_core-") != NULL;
	return false;
}

bool
environment_read(char *const environment[], struct config *config_ret)
{
	const char *value[CONFIG_VARIABLE_COUNT];
	size_t wrong;

	if (is_under_valgrind(environment)) {
		if (!note_writer_untraced("under valgrind"))
			say("valgrind does not support the recorder's "
			    "threads; not tracing");
		return false;
	}
	find_values(environment, value);
	wrong = config_set_all(config_ret, value);
	if (wrong == CONFIG_VARIABLE_COUNT)
		return true;
	say("%s: wrong value '%s', want %s; not tracing",
	    config_variable_name(wrong), value[wrong], config_want(wrong));
	return false;
}

MEMORY_LARGE static struct config own;

bool
environment_read_own(char *const environment[])
{
	return environment_read(environment, &own);
}

const struct config *
environment_own(void)
{
	return &own;
}

void
environment_forgo_stacks(void)
{
	own.stack_depth = 0;
}
