/* SPDX-License-Identifier: MIT */
/*
 * test_function_name.c - the name of a demangled function, and its author
 *
 * The name is found among return types, parameters, operators and brackets.
 * Functions of the standard libraries are hidden, those of programs are not,
 * whatever standard types they use.
 */
#include "hatf/frames/function_name.h"
#include "hatf/frames/hidden_frames.h"

#include "tests/unit/support/checks.h"
#include <stdlib.h>
#include <string.h>

static const struct {
	const char *function, *name, *bare; /* bare NULL: as the name */
} names[] = {
	{ "main", "main", NULL },
	{ "", "", NULL },
	{ "app::run(int, char**)", "app::run", NULL },
	{ "void tmpl<int>(int)", "tmpl<int>", "tmpl" },
	{ "std::vector<int>* app::make<std::pair<int, int> >(int)",
	  "app::make<std::pair<int, int> >", "app::make" },
	{ "std::vector<int>::push_back(int const&)",
	  "std::vector<int>::push_back", NULL },
	{ "F::operator()(int) const", "F::operator()", NULL },
	{ "auto F::operator()<int>(int) const", "F::operator()<int>",
	  "F::operator()" },
	{ "(anonymous namespace)::f(int)", "(anonymous namespace)::f", NULL },
	{ "int (anonymous namespace)::g<int>()",
	  "(anonymous namespace)::g<int>", "(anonymous namespace)::g" },
	{ "main::{lambda(int)#1}::operator()(int) const",
	  "main::{lambda(int)#1}::operator()", NULL },
	{ "f(int) const::{lambda()#1}::operator()() const",
	  "f(int) const::{lambda()#1}::operator()", NULL },
	{ "std::ostream& operator<< <char>(std::ostream&, char)",
	  "operator<< <char>", "operator<<" },
	{ "A<int>::operator>>(int)", "A<int>::operator>>", NULL },
	{ "A::operator->() const", "A::operator->", NULL },
	{ "bool operator< <int>(A<int> const&)", "operator< <int>",
	  "operator<" },
	{ "A::operator bool() const", "A::operator bool", NULL },
	{ "A::operator unsigned long() const", "A::operator unsigned long",
	  NULL },
	{ "operator new(unsigned long)", "operator new", NULL },
	{ "operator new[](unsigned long)", "operator new[]", NULL },
	{ "decltype (x.begin()) app::first<X>(X&)", "app::first<X>",
	  "app::first" },
	{ "app::name[abi:cxx11](int)", "app::name[abi:cxx11]", NULL },
	{ "work(int) [clone .part.0]", "work", NULL },
	{ "work [clone .cold]", "work", NULL },
	{ "my_operator_table(int)", "my_operator_table", NULL },
	{ "alloc::vec::Vec<T,A>::push", "alloc::vec::Vec<T,A>::push", NULL },
	{ "<app::Set as core::ops::Fn(u8) -> bool>::call",
	  "<app::Set as core::ops::Fn(u8) -> bool>::call", NULL },
	{ "app::run::{{closure}}", "app::run::{{closure}}", NULL },
	{ "app::take<dyn core::ops::Fn() -> u8>",
	  "app::take<dyn core::ops::Fn() -> u8>", "app::take" },
	{ "int (*f<int>(int))(char)", "int (*f<int>(int))(char)", NULL },
	{ "((((", "((((", NULL },
	{ "<<<<>>>>>> a", "a", NULL },
	{ "a )>]} b", "b", NULL },
};

START_TEST(the_name_is_found)
{
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const char *const bare =
			names[i].bare != NULL ? names[i].bare : names[i].name;
		const struct function_name found =
			function_name_find(names[i].function);
		char *const text = strndup(found.text, found.nbytes);

		ck_assert_str_eq(text, names[i].name);
		text[found.bare_nbytes] = '\0';
		ck_assert_str_eq(text, bare);
		free(text);
	}
}
END_TEST

START_TEST(any_bytes_end)
{
	static const char alphabet[] = "a<>()[]{}:- operator*& const::";
	unsigned seed = 1;

	for (int i = 0; i < 200000; i++) {
		char text[48];
		const size_t length = (size_t)rand_r(&seed) % sizeof(text);
		struct function_name found;

		for (size_t k = 0; k < length; k++)
			text[k] = alphabet[(size_t)rand_r(&seed) %
					   (sizeof(alphabet) - 1)];
		text[length < sizeof(text) ? length : length - 1] = '\0';
		found = function_name_find(text);
		ck_assert(found.text >= text);
		ck_assert(found.text + found.nbytes <= text + strlen(text));
		ck_assert(found.bare_nbytes <= found.nbytes);
	}
}
END_TEST

static const struct {
	const char *function;
	bool is_std;
} owners[] = {
	{ "std::vector<int>::push_back(int&&)", true },
	{ "int* std::allocator<int>::allocate(unsigned long)", true },
	{ "operator new(unsigned long)", true },
	{ "__cxa_allocate_exception", true },
	{ "__cxagent", false },
	{ "__gnu_cxx::new_allocator<int>::allocate(unsigned long)", true },
	{ "alloc::raw_vec::finish_grow", true },
	{ "<alloc::vec::Vec<T> as core::clone::Clone>::clone", true },
	{ "<T as core::convert::Into<U>>::into", true },
	{ "<&T as core::fmt::Debug>::fmt", true },
	{ "<alloc::string::String as core::fmt::Write>::write_str", true },
	/* The program's own functions. */
	{ "std::vector<int> app::make<int>(int)", false },
	{ "std::unique_ptr<A> make_a<int>()", false },
	{ "app::run(std::string const&)", false },
	{ "std_like::f()", false },
	{ "<app::Set as core::clone::Clone>::clone", false },
	{ "<&mut app::Set<u8> as core::fmt::Debug>::fmt", false },
	{ "<alloc::vec::Vec<u8> as app::Packed>::pack", false },
	{ "app::call<dyn core::ops::Fn() -> i32> ", false },
	{ "main", false },
};

START_TEST(standard_functions_are_known)
{
	for (size_t i = 0; i < sizeof(owners) / sizeof(owners[0]); i++) {
		const struct hatf_frame frame = { .function =
							  owners[i].function };

		ck_assert_msg(hidden_frames_is_std(&frame) == owners[i].is_std,
			      "%s", owners[i].function);
	}
}
END_TEST

static const struct {
	const char *object;
	bool is_std;
} objects[] = {
	{ "/lib/x86_64-linux-gnu/libc.so.6", true },
	{ "/lib/libc-2.31.so", true },
	{ "/lib64/ld-linux-x86-64.so.2", true },
	{ "libstdc++.so.6", true },
	{ "/usr/lib/libcurl.so.4", false },
	{ "/usr/lib/libpthreadpool.so.0", false },
	{ "/opt/libc.so.d/app", false },
};

/* A function of the C library allocates for its caller, whatever its name. */
START_TEST(standard_libraries_are_known)
{
	for (size_t i = 0; i < sizeof(objects) / sizeof(objects[0]); i++) {
		const struct hatf_frame named = {
			.function = "__GI___strdup",
			.object = objects[i].object,
		};
		const struct hatf_frame unnamed = { .object =
							    objects[i].object };

		ck_assert_msg(hidden_frames_is_std(&named) == objects[i].is_std,
			      "%s", objects[i].object);
		ck_assert(hidden_frames_is_std(&unnamed) == objects[i].is_std);
	}
}
END_TEST

int
main(void)
{
	TCase *const tc = tcase_create("function_name");
	Suite *const s = suite_create("function_name");
	SRunner *const sr = srunner_create(s);
	int failed;

	tcase_add_test(tc, the_name_is_found);
	tcase_add_test(tc, any_bytes_end);
	tcase_add_test(tc, standard_functions_are_known);
	tcase_add_test(tc, standard_libraries_are_known);
	suite_add_tcase(s, tc);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed != 0;
}
