/* SPDX-License-Identifier: MIT */
/* settings.c - see settings.h */
#include "tools/recording/settings.h"

#include "hatf/recorder/config.h"
#include "hatf/recorder/notes.h"
#include "tools/ui/message.h"

#include <stdlib.h>
#include <string.h>

bool
settings_refuse(const char *name, const char *variable, const char *value)
{
	message_print("%s: wrong value '%s' (want %s)", name, value,
		      config_want(config_find_variable(variable)));
	return false;
}

bool
settings_check(const char *name, const char *variable, const char *value)
{
	static struct config scratch;

	return config_set(&scratch, config_find_variable(variable), value) ||
	       settings_refuse(name, variable, value);
}

bool
settings_check_environment(void)
{
	for (size_t i = 0; i < CONFIG_VARIABLE_COUNT; i++) {
		const char *const name = config_variable_name(i);
		const char *const value = getenv(name);

		/* 'hatf record' itself sets these two variables. */
		if (value == NULL || strcmp(name, "HATFTRACE_OUT") == 0 ||
		    strcmp(name, NOTES_VARIABLE) == 0)
			continue;
		if (!settings_check(name, name, value))
			return false;
	}
	return true;
}
