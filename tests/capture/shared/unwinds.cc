/* SPDX-License-Identifier: MIT */
/* unwinds.cc - allocate on threads, in handlers and during exceptions */
#include <csetjmp>
#include <csignal>
#include <cstdlib>
#include <map>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

static thread_local volatile size_t sum;

static void
handle(int)
{
	void *volatile p = std::malloc(5000);

	std::free(p);
}

__attribute__((noinline)) static void
descend(int depth)
{
	std::string s(100 + depth, 'x');

	if (depth == 0)
		throw std::runtime_error("the bottom");
	std::vector<std::string> copies(3, s);
	descend(depth - 1);
	sum = sum + copies.size();
}

/* A function with a variable-length array needs a frame pointer. */
__attribute__((noinline)) static void
jump(std::jmp_buf back, int depth)
{
	char *volatile p = static_cast<char *>(std::malloc(50));
	volatile char array[8 + depth % 3 * 16];

	array[depth % 8] = 1;
	std::free(p);
	if (depth == 0)
		std::longjmp(back, 1);
	jump(back, depth - 1);
	sum = sum + array[depth % 8];
}

static void
work(int rounds)
{
	for (int i = 0; i < rounds; i++) {
		std::map<int, std::string> map;
		std::jmp_buf back;

		try {
			descend(i % 50);
		} catch (const std::exception &e) {
			sum = sum + std::string(e.what()).size();
		}
		for (int j = 0; j < 20; j++)
			map[j * i % 31] = std::string(50, 'a');
		if (setjmp(back) == 0)
			jump(back, i % 20);
		if (i % 10 == 0)
			std::raise(SIGUSR1);
	}
}

int
main(int argc, char **argv)
{
	const int rounds = argc > 1 ? std::atoi(argv[1]) : 1000;
	std::vector<std::thread> threads;

	std::signal(SIGUSR1, handle);
	for (int i = 0; i < 3; i++)
		threads.emplace_back(work, rounds);
	work(rounds);
	for (std::thread &t : threads)
		t.join();
	return 0;
}
