/* SPDX-License-Identifier: MIT */
/* settings.c - see settings.h */
#include "tools/recording/settings.h"

#include "tools/ui/message.h"
#include "tools/ui/options.h"

#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define AMOUNT_MAX	  1000000u
#define DIGITS_MAX	  12
#define ROTATE_NBYTES_MIN (64ull << 10)
#define KEEP_NBYTES_MIN	  (128ull << 10)
#define KEEP_COUNT_MIN	  2
#define KEEP_COUNT_MAX	  4096

/* A number at '*value', which moves behind it; false if there is none. */
static bool
take_number(const char **value, uint64_t *n_ret)
{
	unsigned digits = 0;

	*n_ret = 0;
	for (; **value >= '0' && **value <= '9' && digits < DIGITS_MAX;
	     digits++)
		*n_ret = *n_ret * 10 + (uint64_t)(*(*value)++ - '0');
	return digits != 0 && *n_ret <= AMOUNT_MAX;
}

/* What the suffix of a size stands for; 0 if it is none. */
static uint64_t
size_unit(char suffix)
{
	switch (suffix) {
	case 'K':
		return 1ull << 10;
	case 'M':
		return 1ull << 20;
	case 'G':
		return 1ull << 30;
	default:
		return 0;
	}
}

/* A size of at least 64K, a time, or one of each. */
static bool
is_rotate(const char *value)
{
	bool has_size = false, has_time = false;

	if (strcmp(value, "off") == 0)
		return true;
	for (;; value++) {
		uint64_t n, unit;

		if (!take_number(&value, &n) || n == 0)
			return false;
		unit = size_unit(*value);
		if (unit != 0) {
			if (has_size || n * unit < ROTATE_NBYTES_MIN)
				return false;
			has_size = true;
		} else {
			if (has_time || *value == '\0' ||
			    strchr("smh", *value) == NULL)
				return false;
			has_time = true;
		}
		if (*++value != ',')
			return *value == '\0';
	}
}

static bool
is_keep(const char *value)
{
	uint64_t n, unit;

	if (strcmp(value, "all") == 0)
		return true;
	if (!take_number(&value, &n))
		return false;
	unit = size_unit(*value);
	if (unit == 0)
		return *value == '\0' && n >= KEEP_COUNT_MIN &&
		       n <= KEEP_COUNT_MAX;
	return value[1] == '\0' && n * unit >= KEEP_NBYTES_MIN;
}

bool
settings_check_rotate(const char *name, const char *value)
{
	if (is_rotate(value))
		return true;
	speak("%s: neither size nor time: '%s' (want 64M, 10m, 1h or 64M,1h; "
	      "64K or more)",
	      name, value);
	return false;
}

bool
settings_check_keep(const char *name, const char *value)
{
	if (is_keep(value))
		return true;
	speak("%s: neither number nor size: '%s' (want 2 to 4096 segments, or "
	      "128K or more, as 1G)",
	      name, value);
	return false;
}

bool
settings_check_rings(const char *name, const char *value)
{
	if (strlen(value) < PATH_MAX - 1 &&
	    (strcmp(value, "beside") == 0 || strcmp(value, "none") == 0 ||
	     strchr(value, '/') != NULL))
		return true;
	speak("%s: unknown: '%s' (want beside, none or a directory with a / "
	      "in its name)",
	      name, value);
	return false;
}

/* As preload/config/config.c has them. */
static const struct {
	const char *variable;
	const char *words[8];
} choices[] = {
	{ "HATFTRACE_CLOCK", { "auto", "off", "coarse", "us", "ns", NULL } },
	{ "HATFTRACE_COMPRESS",
	  { "gzip", "gzip:1", "gzip:2", "gzip:3", "none", NULL } },
	{ "HATFTRACE_FULL", { "wait", "drop", NULL } },
	{ "HATFTRACE_START", { "on", "off", NULL } },
	{ "HATFTRACE_BEGIN", { "late", "now", NULL } },
	{ "HATFTRACE_CONTROL", { "on", "off", NULL } },
	{ "HATFTRACE_VERBOSE", { "0", "1", NULL } },
};

bool
settings_check_word(const char *name, const char *variable, const char *value)
{
	for (size_t i = 0; i < sizeof(choices) / sizeof(choices[0]); i++)
		if (strcmp(choices[i].variable, variable) == 0)
			return opt_parse_word(name, value, choices[i].words);
	return true;
}

bool
settings_check_environment(void)
{
	static const struct {
		const char *name;
		bool (*check)(const char *name, const char *value);
	} variables[] = {
		{ "HATFTRACE_ROTATE", settings_check_rotate },
		{ "HATFTRACE_KEEP", settings_check_keep },
		{ "HATFTRACE_RINGS", settings_check_rings },
	};

	for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++) {
		const char *const value = getenv(variables[i].name);

		if (value != NULL &&
		    !variables[i].check(variables[i].name, value))
			return false;
	}
	for (size_t i = 0; i < sizeof(choices) / sizeof(choices[0]); i++) {
		const char *const name = choices[i].variable;
		const char *const value = getenv(name);

		if (value != NULL &&
		    !opt_parse_word(name, value, choices[i].words))
			return false;
	}
	return true;
}
