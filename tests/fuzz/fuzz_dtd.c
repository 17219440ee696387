/* SPDX-License-Identifier: MIT */
/*
 * fuzz_dtd.c - any bytes as a DTD of Meta-TF
 *
 * A DTD that is accepted has a canonical form: parsed and printed again, it
 * gives the same bytes.  In another dialect it can be parsed, if it can be
 * printed.  One that is refused has a place and a reason.
 */
#include "fuzz.h"
#include "hatf/metatf/dtd_print.h"
#include "hatf/metatf/schema.h"

/* Print 'dtd'.  NULL: the dialect cannot say it. */
static char *
print(const struct dtd *dtd, enum dtd_dialect to, size_t *nbytes_ret)
{
	char *text = NULL;
	FILE *const f = open_memstream(&text, nbytes_ret);
	struct dtd_error err;
	bool ok;

	fuzz_check(f != NULL);
	ok = dtd_print(f, dtd, to, &err);
	fuzz_check(fclose(f) == 0);
	if (ok)
		return text;
	fuzz_check(err.text[0] != '\0');
	free(text);
	return NULL;
}

/* The printed form must be one, and its printed form itself. */
static void
check_printed(const struct dtd *dtd, enum dtd_dialect to)
{
	size_t nbytes, again_nbytes;
	char *const text = print(dtd, to, &nbytes);
	struct dtd_error err;
	struct dtd *second;
	char *again;

	if (text == NULL)
		return;
	second = dtd_parse(text, nbytes, &err);
	fuzz_check(second != NULL);
	again = print(second, second->dialect, &again_nbytes);
	fuzz_check(again != NULL && again_nbytes == nbytes);
	fuzz_check(memcmp(text, again, nbytes) == 0);
	dtd_close(second);
	free(text);
	free(again);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t nbytes)
{
	struct dtd_error err;
	struct dtd *const dtd = dtd_parse((const char *)data, nbytes, &err);
	struct schema *schema;

	if (dtd == NULL) {
		fuzz_check(err.text[0] != '\0' && err.place.line != 0);
		return 0;
	}
	schema = schema_open(dtd, NULL, NULL, &err);
	fuzz_check(schema != NULL || err.text[0] != '\0');
	check_printed(dtd, dtd->dialect);
	if (schema != NULL)
		for (unsigned to = DTD_1_0; to <= DTD_1_2; to++)
			check_printed(dtd, to);
	schema_close(schema);
	dtd_close(dtd);
	return 0;
}
