/* SPDX-License-Identifier: MIT */
/*
 * replay.c - run a fuzz target on files, without a fuzzer
 *
 * usage: fuzz_NAME [FILE|FOLDER...]
 *
 * Without arguments it takes the committed corpus, tests/fuzz/corpus/NAME.
 * Each input is in memory of exactly its size, so that a sanitizer detects
 * every read beyond its end.
 */
#include "fuzz.h"

#include <ftw.h>
#include <sys/stat.h>

static unsigned count;

static void
run_file(const char *path, size_t nbytes)
{
	FILE *const file = fopen(path, "r");
	/* An empty input may be NULL, but malloc(0) is valid. */
	uint8_t *const data = malloc(nbytes);

	if (file == NULL || (data == NULL && nbytes != 0) ||
	    fread(data, 1, nbytes, file) != nbytes) {
		perror(path);
		exit(2);
	}
	fclose(file);
	/* If the target crashes, the last line names the input. */
	fprintf(stderr, "%s\n", path);
	LLVMFuzzerTestOneInput(data, nbytes);
	free(data);
	count++;
}

static int
visit(const char *path, const struct stat *st, int type)
{
	if (type == FTW_F)
		run_file(path, (size_t)st->st_size);
	return 0;
}

static int
run(const char *path)
{
	if (ftw(path, visit, 16) == 0)
		return 0;
	perror(path);
	return 2;
}

int
main(int argc, char **argv)
{
	const char *const name = strstr(argv[0], "fuzz_");
	char corpus[256];
	int status = 0;

	for (int i = 1; i < argc && status == 0; i++)
		status = run(argv[i]);
	if (argc == 1 && name != NULL) {
		snprintf(corpus, sizeof(corpus), "tests/fuzz/corpus/%s",
			 strrchr(argv[0], '_') + 1);
		status = run(corpus);
	}
	printf("%u inputs\n", count);
	return status == 0 && count == 0 ? 2 : status;
}
