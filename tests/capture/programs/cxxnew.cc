/* SPDX-License-Identifier: MIT */
/*
 * cxxnew.cc - call every operator new and delete of C++, in every outcome
 *
 * Prints what the trace must have (notes.h): each new and each delete is one
 * event, whether the operators call malloc(), as in libstdc++, or belong to the
 * allocator.  A failed attempt may appear as any number of failed allocations,
 * because libstdc++ calls malloc() again after each call of the handler; so
 * failures are not noted.  For aligned variants, libstdc++ may round the size
 * up; so their sizes are multiples of the alignment.  The memory of exceptions
 * (132 and 136 bytes) is not noted, either.  With the argument 'no-failures'
 * nothing fails: an allocator written in C, such as Debian's mimalloc, aborts
 * instead of throwing.
 */
#include <cerrno>
#include <cstring>
#include <map>
#include <new>
#include <string>
#include <vector>

#include "notes.h"

/* clang declares these only on request. */
void operator delete(void *, std::size_t) noexcept;
void operator delete[](void *, std::size_t) noexcept;
void operator delete(void *, std::size_t, std::align_val_t) noexcept;
void operator delete[](void *, std::size_t, std::align_val_t) noexcept;

namespace
{

const size_t HUGE_NBYTES = static_cast<size_t>(PTRDIFF_MAX) - 4096;
const std::align_val_t ALIGN{ 64 };
int handler_call_count;
int mistake_count;

void
expect(bool holds, const char *what)
{
	if (!holds) {
		printf("mistake: %s\n", what);
		mistake_count++;
	}
}

/* Keep the compiler from removing a new and its delete. */
void *
hide(void *p)
{
	__asm__ volatile("" : "+r"(p) : : "memory");
	return p;
}

/* The handler runs inside 'operator new'; its events are noted as well. */
void
handler_that_allocates()
{
	void *const p = hide(malloc(777));

	note_alloc(777, p);
	note_free(p);
	free(p);
	if (++handler_call_count % 3 == 0)
		std::set_new_handler(nullptr);
}

void
handler_that_throws()
{
	void *const p = hide(::operator new(333));

	note_alloc(333, p);
	note_free(p);
	::operator delete(p);
	throw std::bad_alloc();
}

/* Make a plain event, to see that recording continues. */
void
still_there(size_t n)
{
	void *const p = hide(malloc(n));

	note_alloc(n, p);
	note_free(p);
	free(p);
}

void *
noted(size_t n, void *p, size_t align)
{
	p = hide(p);
	expect(p != nullptr, "operator new returned NULL");
	expect(align == 0 || reinterpret_cast<uintptr_t>(p) % align == 0,
	       "alignment");
	note_add("alloc", n, p, nullptr, align, 0);
	return p;
}

void
plain_variants()
{
	void *p;

	p = noted(1, ::operator new(1), 0);
	note_free(p);
	::operator delete(p);
	p = noted(24, ::operator new(24), 0);
	note_free(p);
	::operator delete(p, static_cast<size_t>(24));
	p = noted(100, ::operator new(100, std::nothrow), 0);
	note_free(p);
	::operator delete(p, std::nothrow);
	p = noted(1000, ::operator new[](1000), 0);
	note_free(p);
	::operator delete[](p);
	p = noted(10000, ::operator new[](10000), 0);
	note_free(p);
	::operator delete[](p, static_cast<size_t>(10000));
	p = noted(100000, ::operator new[](100000, std::nothrow), 0);
	note_free(p);
	::operator delete[](p, std::nothrow);
	::operator delete(hide(nullptr));
	::operator delete[](hide(nullptr));
}

void
aligned_variants()
{
	void *p;

	p = noted(128, ::operator new(128, ALIGN), 64);
	note_free(p);
	::operator delete(p, ALIGN);
	p = noted(192, ::operator new(192, ALIGN), 64);
	note_free(p);
	::operator delete(p, static_cast<size_t>(192), ALIGN);
	p = noted(256, ::operator new(256, ALIGN, std::nothrow), 64);
	note_free(p);
	::operator delete(p, ALIGN, std::nothrow);
	p = noted(320, ::operator new[](320, ALIGN), 64);
	note_free(p);
	::operator delete[](p, ALIGN);
	p = noted(384, ::operator new[](384, ALIGN), 64);
	note_free(p);
	::operator delete[](p, static_cast<size_t>(384), ALIGN);
	p = noted(448, ::operator new[](448, ALIGN, std::nothrow), 64);
	note_free(p);
	::operator delete[](p, ALIGN, std::nothrow);
	::operator delete(hide(nullptr), ALIGN);
}

struct unborn {
	char bytes[200];
	explicit unborn(uintptr_t *where)
	{
		*where = reinterpret_cast<uintptr_t>(this);
		throw 42;
	}
};

void
failures()
{
	uintptr_t unborn_address = 0;

	expect(hide(::operator new(HUGE_NBYTES, std::nothrow)) == nullptr,
	       "nothrow new of too much");
	still_there(501);
	expect(hide(::operator new[](HUGE_NBYTES, ALIGN, std::nothrow)) ==
		       nullptr,
	       "nothrow aligned new of too much");
	still_there(502);
	for (int i = 0; i < 3; i++) {
		try {
			hide(i < 2 ? ::operator new(HUGE_NBYTES)
				   : ::operator new(HUGE_NBYTES, ALIGN));
			expect(false, "new of too much returned");
		} catch (const std::bad_alloc &) {
		}
		still_there(503 + static_cast<size_t>(i));
	}
	try {
		delete new unborn(&unborn_address);
		expect(false, "constructor did not throw");
	} catch (int) {
		const void *const p =
			hide(reinterpret_cast<void *>(unborn_address));

		note_alloc(sizeof(unborn), p);
		note_free(p);
	}
	still_there(506);
}

void
handlers()
{
	void *p;

	std::set_new_handler(handler_that_allocates);
	try {
		p = hide(::operator new(HUGE_NBYTES));
		expect(p == nullptr, "new of too much returned");
	} catch (const std::bad_alloc &) {
		expect(handler_call_count == 3, "calls of the handler");
	}
	still_there(601);
	std::set_new_handler(handler_that_allocates);
	p = hide(::operator new[](HUGE_NBYTES, std::nothrow));
	expect(p == nullptr && handler_call_count == 6, "nothrow and handler");
	still_there(602);
	std::set_new_handler(handler_that_throws);
	try {
		p = hide(::operator new(HUGE_NBYTES));
		expect(p == nullptr, "new of too much returned");
	} catch (const std::bad_alloc &) {
	}
	still_there(603);
	p = hide(::operator new(HUGE_NBYTES, std::nothrow));
	expect(p == nullptr, "nothrow and throwing handler");
	std::set_new_handler(nullptr);
	still_there(604);
}

/* Use containers as ordinary programs do; only 'hatf verify' checks this. */
size_t
containers()
{
	std::map<std::string, std::vector<std::string>> m;
	size_t n = 0;

	for (int i = 0; i < 2000; i++)
		m["a key that is long enough for the heap " +
		  std::to_string(i % 300)]
			.push_back(std::to_string(i) +
				   " and a value that is long, too");
	for (const auto &entry : m)
		n += entry.second.size();
	return n;
}

} /* namespace */

int
main(int argc, char **argv)
{
	expect(containers() == 2000, "containers");
	free(hide(malloc(NOTES_BEGIN)));
	plain_variants();
	aligned_variants();
	if (argc < 2 || strcmp(argv[1], "no-failures") != 0) {
		failures();
		handlers();
	}
	free(hide(malloc(NOTES_END)));
	expect(containers() == 2000, "containers");
	printf("mistakes %d\n", mistake_count);
	notes_print();
	return mistake_count != 0;
}
