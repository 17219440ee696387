/* SPDX-License-Identifier: MIT */
/*
 * costs.c - see costs.h
 */
#include "hatf/optimum/costs.h"

#define NO COST_INFINITE
#define NO_4                   \
	{                      \
		NO, NO, NO, NO \
	}

const struct costs costs_of_use[5] = {
	{ { NO, NO, NO, 8 }, NO_4, NO },       { { NO, NO, 4, 8 }, NO_4, NO },
	{ { NO, 2, 4, 8 }, NO_4, NO },	       { { 1, 2, 4, 8 }, NO_4, NO },
	{ { 1, 2, 4, 8 }, { 0, 0, 0, 0 }, 0 },
};
