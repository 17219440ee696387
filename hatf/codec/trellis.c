/* SPDX-License-Identifier: MIT */
/*
 * trellis.c - see trellis.h
 *
 * A step (one use of a field) has a latency of about ten cycles, and the next
 * step depends on its result.  So the steps of two fields, done at once, take
 * little longer than those of one.
 *
 * In most steps no path changes its state.  So trellis_run() does not store the
 * predecessor of each state.  trellis_trace() searches backwards, eight uses at
 * a time, for the use at which the path entered the state, and recomputes the
 * predecessor only there.
 */
#include "hatf/codec/trellis.h"

#include <stdbool.h>
#include <string.h>
#if defined(__x86_64__) && __has_include(<sys/platform/x86.h>)
#include <sys/platform/x86.h>
#endif

/*
 * States of the two groups alternate, so the partner of a state (the same
 * number in the other group) is in the neighbouring lane.
 */
#ifdef __x86_64__

typedef __m128i lanes;

static inline lanes
load(const struct trellis_costs *c)
{
	return _mm_load_si128((const __m128i *)(const void *)c->state);
}

static inline void
store(struct trellis_costs *c, lanes a)
{
	_mm_store_si128((__m128i *)(void *)c->state, a);
}

static inline lanes
add(lanes a, lanes b)
{
	return _mm_add_epi16(a, b);
}

static inline lanes
lesser(lanes a, lanes b)
{
	return _mm_min_epi16(a, b);
}

/* Set each lane to the minimum of the lanes of its group. */
static inline lanes
least(lanes a)
{
	a = lesser(a, _mm_shuffle_epi32(a, _MM_SHUFFLE(1, 0, 3, 2)));
	return lesser(a, _mm_shuffle_epi32(a, _MM_SHUFFLE(2, 3, 0, 1)));
}

/*
 * Set each lane to the value of its partner, the same number in the other
 * group.
 */
static inline lanes
partner(lanes a)
{
	return _mm_or_si128(_mm_slli_epi32(a, 16), _mm_srli_epi32(a, 16));
}

static inline uint8_t
equal(lanes a, lanes b)
{
	const lanes same = _mm_cmpeq_epi16(a, b);

	return (uint8_t)_mm_movemask_epi8(
		_mm_packs_epi16(same, _mm_setzero_si128()));
}

#else

typedef struct trellis_costs lanes;

static inline lanes
load(const struct trellis_costs *c)
{
	return *c;
}

static inline void
store(struct trellis_costs *c, lanes a)
{
	*c = a;
}

static inline lanes
add(lanes a, lanes b)
{
	for (unsigned i = 0; i < TRELLIS_STATES; i++)
		a.state[i] = (int16_t)(a.state[i] + b.state[i]);
	return a;
}

static inline lanes
lesser(lanes a, lanes b)
{
	for (unsigned i = 0; i < TRELLIS_STATES; i++)
		a.state[i] = a.state[i] < b.state[i] ? a.state[i] : b.state[i];
	return a;
}

static inline lanes
rotated(lanes a, unsigned n)
{
	lanes b;

	for (unsigned i = 0; i < TRELLIS_STATES; i++)
		b.state[i] = a.state[(i + n) % TRELLIS_STATES];
	return b;
}

static inline lanes
least(lanes a)
{
	a = lesser(a, rotated(a, 4));
	return lesser(a, rotated(a, 2));
}

static inline lanes
partner(lanes a)
{
	lanes b;

	for (unsigned i = 0; i < TRELLIS_STATES; i++)
		b.state[i] = a.state[i ^ 1];
	return b;
}

static inline uint8_t
equal(lanes a, lanes b)
{
	unsigned bits = 0;

	for (unsigned i = 0; i < TRELLIS_STATES; i++)
		bits |= (unsigned)(a.state[i] == b.state[i]) << i;
	return (uint8_t)bits;
}

#endif

/* The operands that are the same in every step of a run. */
struct fixed {
	lanes across, aslant;
};

static inline struct fixed
load_fixed(const struct trellis_rules *r)
{
	return (struct fixed){ .across = load(&r->across),
			       .aslant = load(&r->aslant) };
}

static inline lanes
step(const struct trellis_rules *r, const struct fixed *f, lanes now,
     unsigned class, size_t use, struct trellis_path *path)
{
	const lanes stay_cost = load(&r->stay[class]);
	const lanes within = load(&r->within[class / TRELLIS_TIED]);
	const lanes stay = add(now, stay_cost);
	const lanes best = least(now);
	const lanes change_width = add(add(best, within), stay_cost);
	const lanes change_group =
		partner(lesser(add(now, f->across), add(best, f->aslant)));
	const lanes next = lesser(lesser(stay, change_width),
				  add(change_group, load(&r->enter[class])));

	store(&path->costs[use], next);
	path->stayed[8 + use] = equal(next, stay);
	return next;
}

/*
 * Set the padding before the first use to "no change", so that last_turn()
 * finds no turn there.
 */
static void
begin(const struct trellis_job *job)
{
	memset(job->path->stayed, 0xff, 8);
}

/*
 * Return the first use at or after 'i' whose class is not 'class', or 'n' if
 * there is none.
 */
static size_t
end_of_class(const uint8_t *classes, size_t i, size_t n, uint8_t class)
{
	while (i < n && classes[i] == class)
		i++;
	return i;
}

/*
 * If a step leaves all costs unchanged, further steps of the same class leave
 * the costs unchanged, too.  So copy the result of the step for these further
 * steps.  A field that is planned alone mostly has long runs of one class.
 */
void
trellis_run(const struct trellis_job *job, size_t n)
{
	const struct trellis_rules *const rules = job->rules;
	const uint8_t *const classes = job->classes;
	struct trellis_path *const path = job->path;
	const struct fixed f = load_fixed(rules);
	lanes now = load(job->start);
	size_t i = 0;

	begin(job);
	while (i < n) {
		const uint8_t class = classes[i];
		const lanes next = step(rules, &f, now, class, i, path);
		const bool steady = equal(now, next) == UINT8_MAX;

		now = next;
		i++;
		if (!steady || i == n || classes[i] != class)
			continue;

		const size_t end = end_of_class(classes, i, n, class);

		memset(path->stayed + 8 + i, path->stayed[7 + i], end - i);
		for (; i < end; i++)
			store(&path->costs[i], now);
	}
}

static void
run_two(const struct trellis_job *a, const struct trellis_job *b, size_t n)
{
	const struct trellis_rules *const ra = a->rules, *const rb = b->rules;
	struct trellis_path *const pa = a->path, *const pb = b->path;
	const uint8_t *const ca = a->classes, *const cb = b->classes;
	const struct fixed fa = load_fixed(ra), fb = load_fixed(rb);
	lanes now_a = load(a->start), now_b = load(b->start);

	for (size_t i = 0; i < n; i++) {
		now_a = step(ra, &fa, now_a, ca[i], i, pa);
		now_b = step(rb, &fb, now_b, cb[i], i, pb);
	}
}

#ifdef __x86_64__

#define AVX2 __attribute__((target("avx2")))

AVX2 static inline __m256i
load_two(const struct trellis_costs *a, const struct trellis_costs *b)
{
	return _mm256_inserti128_si256(_mm256_castsi128_si256(load(a)), load(b),
				       1);
}

AVX2 static inline __m256i
least_two(__m256i a)
{
	a = _mm256_min_epi16(a,
			     _mm256_shuffle_epi32(a, _MM_SHUFFLE(1, 0, 3, 2)));
	return _mm256_min_epi16(
		a, _mm256_shuffle_epi32(a, _MM_SHUFFLE(2, 3, 0, 1)));
}

AVX2 static inline __m256i
partner_two(__m256i a)
{
	return _mm256_or_si256(_mm256_slli_epi32(a, 16),
			       _mm256_srli_epi32(a, 16));
}

/*
 * Like run_two(), but with both fields in one register, which halves the number
 * of instructions.
 */
AVX2 static void
run_two_avx2(const struct trellis_job *a, const struct trellis_job *b, size_t n)
{
	const struct trellis_rules *const ra = a->rules, *const rb = b->rules;
	struct trellis_path *const pa = a->path, *const pb = b->path;
	const __m256i across = load_two(&ra->across, &rb->across);
	const __m256i aslant = load_two(&ra->aslant, &rb->aslant);
	__m256i now = load_two(a->start, b->start);

	for (size_t i = 0; i < n; i++) {
		const unsigned ca = a->classes[i], cb = b->classes[i];
		const __m256i stay_cost =
			load_two(&ra->stay[ca], &rb->stay[cb]);
		const __m256i within = load_two(&ra->within[ca / TRELLIS_TIED],
						&rb->within[cb / TRELLIS_TIED]);
		const __m256i stay = _mm256_add_epi16(now, stay_cost);
		const __m256i best = least_two(now);
		const __m256i change_width = _mm256_add_epi16(
			best, _mm256_add_epi16(within, stay_cost));
		const __m256i change_group = partner_two(
			_mm256_min_epi16(_mm256_add_epi16(now, across),
					 _mm256_add_epi16(best, aslant)));

		now = _mm256_min_epi16(
			_mm256_min_epi16(stay, change_width),
			_mm256_add_epi16(
				change_group,
				load_two(&ra->enter[ca], &rb->enter[cb])));
		store(&pa->costs[i], _mm256_castsi256_si128(now));
		store(&pb->costs[i], _mm256_extracti128_si256(now, 1));

		const __m256i same = _mm256_cmpeq_epi16(now, stay);
		const unsigned bits = (unsigned)_mm256_movemask_epi8(
			_mm256_packs_epi16(same, same));

		pa->stayed[8 + i] = (uint8_t)bits;
		pb->stayed[8 + i] = (uint8_t)(bits >> 16);
	}
}

static bool
has_avx2(void)
{
#ifdef CPU_FEATURE_ACTIVE
	/*
	 * Ask libc, which has already read the features of the processor.
	 * CPUID takes one or two microseconds on a virtual machine, and
	 * __builtin_cpu_supports() would execute it twenty times when the
	 * library is loaded.
	 */
	return CPU_FEATURE_ACTIVE(AVX2);
#else
	__builtin_cpu_init();
	return __builtin_cpu_supports("avx2");
#endif
}

#else

static void
run_two_avx2(const struct trellis_job *a, const struct trellis_job *b, size_t n)
{
	run_two(a, b, n);
}

static bool
has_avx2(void)
{
	return false;
}

#endif

void
trellis_run_two(const struct trellis_job *a, const struct trellis_job *b,
		size_t n)
{
	begin(a);
	begin(b);
	if (has_avx2())
		run_two_avx2(a, b, n);
	else
		run_two(a, b, n);
}

unsigned
trellis_cheapest(const struct trellis_costs *c)
{
	unsigned state = 0;

	for (unsigned i = 1; i < TRELLIS_STATES; i++)
		if (c->state[i] < c->state[state])
			state = i;
	return state;
}

/*
 * Return the index of the last use before 'end' at which the path enters
 * 'state', or -1 if there is none.
 */
static ptrdiff_t
last_turn(const struct trellis_path *path, size_t end, unsigned state)
{
	const uint64_t bits = UINT64_C(0x0101010101010101) << state;
	ptrdiff_t i = (ptrdiff_t)end;

	/* Load eight bytes, of which the last belongs to use i - 1. */
	for (; i > 0; i -= 8) {
		uint64_t stayed;

		memcpy(&stayed, path->stayed + i, sizeof(stayed));
#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
		stayed = __builtin_bswap64(stayed);
#endif
		const uint64_t left = ~stayed & bits;

		if (left != 0)
			return i - 1 - __builtin_clzll(left) / 8;
	}
	return -1;
}

/* Return the state from which the cheapest path entered 'state'. */
static unsigned
predecessor(const struct trellis_rules *r, const struct trellis_costs *before,
	    unsigned class, unsigned state)
{
	const int stay = r->stay[class].state[state];
	const int enter = r->enter[class].state[state];
	int least_cost = INT16_MAX;
	unsigned from = state;

	for (unsigned i = 0; i < TRELLIS_STATES; i++) {
		int cost = before->state[i];

		if ((i ^ state) & 1) {
			const int across = r->across.state[state ^ 1];
			const int aslant = r->aslant.state[state ^ 1];

			cost += enter;
			cost += i == (state ^ 1) && across < aslant ? across
								    : aslant;
		} else {
			cost += stay;
			cost += r->within[class / TRELLIS_TIED].state[state];
		}
		if (cost < least_cost) {
			least_cost = cost;
			from = i;
		}
	}
	return from;
}

size_t
trellis_trace(const struct trellis_job *job, size_t n,
	      struct trellis_turn *turns, unsigned *first_ret)
{
	const struct trellis_path *const path = job->path;
	unsigned state =
		trellis_cheapest(n == 0 ? job->start : &path->costs[n - 1]);
	ptrdiff_t use = (ptrdiff_t)n;
	size_t count = 0;

	while ((use = last_turn(path, (size_t)use, state)) >= 0) {
		turns[count].use = (uint16_t)use;
		turns[count++].state = (uint16_t)state;
		state = predecessor(job->rules,
				    use == 0 ? job->start
					     : &path->costs[use - 1],
				    job->classes[use], state);
	}
	*first_ret = state;
	return count;
}
