/* SPDX-License-Identifier: MIT */
/*
 * stack_torture.c - allocates where a walk of the stack can go astray
 *
 * stack_torture SECONDS ONE.so TWO.so: code without rules and with wrong frame
 * pointers, generated code, signals on alternate stacks, coroutines on stacks
 * that come, go and shrink, small threads, longjmp, libraries that take each
 * other's place, and an unwinder of its own.  Ends with status 0.  The rest is
 * in stack_generated.c and stack_split.c.
 */
#include <dlfcn.h>
#include <execinfo.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "stack_torture.h"

static __thread unsigned seed;

static NOINLINE void
allocate(void)
{
	void *p = malloc(24 + rand_r(&seed) % 200);

	__asm__ volatile("" : "+r"(p)::"memory");
	p = realloc(p, 300);
	__asm__ volatile("" : "+r"(p)::"memory");
	free(p);
	__asm__ volatile("" ::: "memory");
}

static NOINLINE void
recurse(int depth)
{
	volatile char room[32];

	room[0] = 1;
	if (depth > 0)
		recurse(depth - 1);
	allocate();
	__asm__ volatile("" : : "r"(room) : "memory");
}

/*
 * No rules: call 'f' with 'bp' as frame pointer, below words that look like
 * frames.
 */
void without_rules(void (*f)(void), uintptr_t bp);
__asm__(".text\n.type without_rules, @function\nwithout_rules:\n"
	"	push %rbp\n	push %rbx\n	sub $40, %rsp\n"
	"	movq $1, (%rsp)\n	mov %rsp, 8(%rsp)\n"
	"	mov %rsi, 16(%rsp)\n"
	"	mov %rsi, %rbp\n	call *%rdi\n"
	"	add $40, %rsp\n	pop %rbx\n	pop %rbp\n	ret\n"
	".size without_rules, . - without_rules\n");

static NOINLINE void
wrong_frame_pointers(void)
{
	uintptr_t loop[4];
	static const uintptr_t wrong[] = {
		0,
		1,
		7,
		4096,
		UINTPTR_MAX,
		UINTPTR_MAX - 7,
		0x7ffffffff000,
		0x800000000000,
		0x5555deadbee8,
	};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		without_rules(allocate, wrong[i]);
	loop[0] = (uintptr_t)&loop[0];
	loop[1] = (uintptr_t)__builtin_return_address(0);
	loop[2] = (uintptr_t)&loop[0];
	loop[3] = 3;
	for (int i = 0; i < 32; i++)
		without_rules(allocate, (uintptr_t)loop + (uintptr_t)i);
	without_rules(allocate, (uintptr_t)&loop & ~(uintptr_t)(PAGE - 1));
	without_rules(allocate, (uintptr_t)&wrong);
}

NOINLINE void
through(void (*f)(void))
{
	f();
	__asm__ volatile("" ::: "memory");
}

static void
handle(int sig)
{
	recurse(5);
	if (sig == SIGUSR1)
		raise(SIGUSR2);
}

static NOINLINE void
alternate(void)
{
	stack_t alternate = { .ss_size = 16 * PAGE };
	stack_t none = { .ss_flags = SS_DISABLE };

	alternate.ss_sp = mmap(NULL, alternate.ss_size, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	sigaltstack(&alternate, NULL);
	raise(SIGUSR1);
	without_rules((void (*)(void))(uintptr_t)getpid, 1);
	raise(SIGUSR2);
	sigaltstack(&none, NULL);
	munmap(alternate.ss_sp, alternate.ss_size);
}

static __thread ucontext_t home, away;
static __thread int away_depth;

static void
run_away(void)
{
	recurse(away_depth);
	swapcontext(&away, &home);
	recurse(2);
	__asm__ volatile("" ::: "memory"); /* no jump */
}

/*
 * Stacks that begin at the same place and become shorter: what was above the
 * frames of the last one is gone.
 */
static NOINLINE void
coroutines(void)
{
	const size_t most = 64 * PAGE;
	char *const place =
		mmap(NULL, most, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	for (size_t n = 64; n >= 4; n -= 4) {
		mprotect(place, most, PROT_NONE);
		mprotect(place, n * PAGE, PROT_READ | PROT_WRITE);
		getcontext(&away);
		away.uc_stack.ss_sp = place;
		away.uc_stack.ss_size = n * PAGE;
		away.uc_link = &home;
		away_depth = (int)n;
		makecontext(&away, run_away, 0);
		swapcontext(&home, &away);
		allocate();
		swapcontext(&home, &away);
	}
	munmap(place, most);
}

/* Call 'f' on the stack that ends at 'top': no rules lead back. */
void on_stack(void (*f)(void), void *top);
__asm__(".text\n.type on_stack, @function\non_stack:\n"
	"	push %rbp\n	push %rbx\n	push %r12\n"
	"	mov %rsp, %rbx\n	mov %rsi, %rsp\n	call *%rdi\n"
	"	mov %rbx, %rsp\n	pop %r12\n	pop %rbx\n	pop "
	"%rbp\n"
	"	ret\n.size on_stack, . - on_stack\n");

static __thread int levels;
static __thread uintptr_t deepest, above_deepest;

/* Allocate at the bottom only. */
static NOINLINE void
plunge(int level)
{
	volatile char room[32];

	room[0] = 1;
	above_deepest = deepest;
	deepest = (uintptr_t)room;
	if (level > 0)
		plunge(level - 1);
	else
		allocate();
	__asm__ volatile("" : : "r"(room) : "memory");
}

static NOINLINE void
descend(void)
{
	plunge(levels);
	__asm__ volatile("" ::: "memory");
}

/*
 * The second stack ends where the first one went on, and has the same frames in
 * the same places as far as it goes.
 */
static NOINLINE void
switches(void)
{
	char *const place = mmap(NULL, 16 * PAGE, PROT_READ | PROT_WRITE,
				 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *const top = place + 16 * PAGE;

	levels = 20;
	on_stack(descend, top);
	for (uintptr_t pages = 1; pages < 8; pages++) {
		const uintptr_t frame = above_deepest - deepest;

		if (frame == 0 || pages * PAGE % frame != 0)
			continue;
		levels = 20 + (int)(pages * PAGE / frame);
		on_stack(descend, top);
		/* Not unmapped: another thread would map memory there. */
		mprotect(top - pages * PAGE, pages * PAGE, PROT_NONE);
		levels = 20;
		on_stack(descend, top - pages * PAGE);
		on_stack(wrong_frame_pointers, top - pages * PAGE);
		break;
	}
	munmap(place, 16 * PAGE);
}

static NOINLINE void
jumps(void)
{
	jmp_buf back;

	if (setjmp(back) == 0) {
		recurse(30);
		longjmp(back, 1);
	}
	allocate();
}

static NOINLINE void
unwinds(void)
{
	void *frame[64];
	const int n = backtrace(frame, 64);

	free(backtrace_symbols(frame, n));
}

static const char *library[2];

static void
libraries(void)
{
	for (int i = 0; i < 4; i++) {
		void *const handle = dlopen(library[i % 2], RTLD_NOW);
		void (*call)(void (*)(void));

		if (handle == NULL) {
			fputs(dlerror(), stderr);
			exit(1);
		}
		*(void **)&call = dlsym(handle, "call");
		call(allocate);
		dlclose(handle);
	}
}

static void *
torture(void *argument)
{
	const int rounds = *(const int *)argument;

	seed = (unsigned)(uintptr_t)&seed;
	for (int i = 0; i < rounds; i++) {
		wrong_frame_pointers();
		generate(allocate);
		generate(wrong_frame_pointers);
		jump_on(allocate);
		switch_by_rules(allocate);
		split(allocate, 20);
		coroutines();
		switches();
		jumps();
		unwinds();
	}
	alternate();
	return NULL;
}

static void *
be_small(void *unused)
{
	recurse(20);
	return unused;
}

static void
start_threads(void)
{
	static const int rounds = 5;
	pthread_t thread[4];
	pthread_attr_t attr;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 16384);
	for (int i = 0; i < 4; i++)
		if (pthread_create(&thread[i], i < 2 ? &attr : NULL,
				   i < 2 ? be_small : torture,
				   (void *)(uintptr_t)&rounds) != 0)
			exit(2);
	for (int i = 0; i < 4; i++)
		pthread_join(thread[i], NULL);
	pthread_attr_destroy(&attr);
}

int
main(int argc, char **argv)
{
	static const int rounds = 10;
	const time_t end = time(NULL) + (argc > 1 ? atoi(argv[1]) : 1);
	struct sigaction action = { .sa_flags = SA_ONSTACK };

	if (argc != 4)
		return 2;
	library[0] = argv[2];
	library[1] = argv[3];
	action.sa_handler = handle;
	sigaction(SIGUSR1, &action, NULL);
	sigaction(SIGUSR2, &action, NULL);
	do {
		torture((void *)(uintptr_t)&rounds);
		start_threads();
		libraries();
	} while (time(NULL) < end);
	return 0;
}
