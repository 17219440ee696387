/* SPDX-License-Identifier: MIT */
/* function_name.c - see function_name.h */
#include "hatf/frames/function_name.h"

#include <fnmatch.h>
#include <string.h>

/*
 * Size in bytes of the buffer for a name and its NUL.  No pattern matches a
 * longer name, but a pattern can still match the whole text of the function.
 */
#define NAME_NBYTES 8192

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/*
 * The symbols of operators.  Without this list, step() would count the '<' of
 * "operator<" as a bracket.  Longer symbols come first, because the first match
 * counts.
 */
static const char *const operators[] = {
	"<=>", "->*", "<<=", ">>=", "<<", ">>", "<=", ">=",
	"->",  "()",  "[]",  "<",   ">",  ",",	"!",
};

/* The position in the text, and what has been found so far. */
struct scan {
	const char *next, *name;
	/*
	 * While 'next' is inside the outermost template arguments, or directly
	 * after them: the '<' that begins these arguments.  In "f<g<int>>", it
	 * is the '<' after "f".  Otherwise NULL.
	 */
	const char *arguments;
	unsigned depth;
	/*
	 * true: the name is the name of an operator, so it may contain blanks
	 */
	bool is_operator;
};

static bool
begins_with(const char *text, const char *start)
{
	return strncmp(text, start, strlen(start)) == 0;
}

static bool
is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (c >= '0' && c <= '9') || c == '_' || c == '$' ||
	       (unsigned char)c >= 0x80;
}

/*
 * If the word "operator" comes next, skip this word, and the symbol after it if
 * 'operators' contains the symbol.  Return false, and skip nothing, if anything
 * else comes next.
 */
static bool
skip_operator(struct scan *s, const char *start)
{
	const size_t length = strlen("operator");

	if (!begins_with(s->next, "operator") || is_word(s->next[length]) ||
	    (s->next != start && is_word(s->next[-1])))
		return false;
	s->next += length;
	if (s->depth == 0) {
		s->is_operator = true;
		s->arguments = NULL;
	}
	for (size_t i = 0; i < COUNT(operators); i++)
		if (begins_with(s->next, operators[i])) {
			s->next += strlen(operators[i]);
			break;
		}
	return true;
}

/*
 * 'open' must point to an opening parenthesis.  Return the position after the
 * parenthesis that closes it, or the end of the text.
 */
static const char *
skip_bracket(const char *open)
{
	const char *p = open;
	unsigned depth = 0;

	for (; *p != '\0'; p++) {
		if (*p == '(')
			depth++;
		else if (*p == ')' && --depth == 0)
			return p + 1;
	}
	return p;
}

/* Skip the qualifiers of a member function, such as " const". */
static const char *
skip_qualifiers(const char *p)
{
	static const char *const words[] = { " const", " volatile", " &&",
					     " &" };

	for (size_t i = 0; i < COUNT(words); i++)
		if (begins_with(p, words[i])) {
			p += strlen(words[i]);
			i = (size_t)-1;
		}
	return p;
}

/*
 * The next character is a '(' outside all other brackets.  If it begins the
 * parameters of the function itself, return false.  Otherwise, it belongs to
 * "(anonymous namespace)", to "decltype", or to a function that encloses this
 * one.  Step over everything up to the matching ')', and over qualifiers of the
 * enclosing function, such as " const".  Return true.
 */
static bool
pass_parameters(struct scan *s, const char *start)
{
	const char *const end = skip_bracket(s->next);
	const char *after = skip_qualifiers(end);

	if (begins_with(s->next, "(anonymous namespace)")) {
		s->next = end;
		return true;
	}
	if (s->next - start >= 8 && begins_with(s->next - 8, "decltype")) {
		s->next = end;
		return true;
	}
	if (s->next - start >= 9 && begins_with(s->next - 9, "decltype ")) {
		s->name = s->next;
		s->next = end;
		return true;
	}
	if (begins_with(after, "::")) {
		s->is_operator = false;
		s->next = after;
		return true;
	}
	return false;
}

/*
 * Step over the next byte or word of the text.  Return false if the name has
 * ended.
 */
static bool
step(struct scan *s, const char *start)
{
	const char c = *s->next;

	if (skip_operator(s, start))
		return true;
	if (begins_with(s->next, "->")) {
		s->next += 2;
		return true;
	}
	if (s->depth == 0 && c == '(')
		return pass_parameters(s, start);
	if (s->depth == 0 && c == ' ' && s->next[1] == '[')
		return false;
	if (s->depth == 0)
		s->arguments = c == '<' ? s->next : NULL;
	if (c == '<' || c == '(' || c == '{' || c == '[')
		s->depth++;
	else if ((c == '>' || c == ')' || c == '}' || c == ']') && s->depth > 0)
		s->depth--;
	else if (c == ' ' && s->depth == 0 && !s->is_operator)
		s->name = s->next + 1;
	s->next++;
	return true;
}

struct function_name
function_name_find(const char *function)
{
	struct scan s = { .next = function, .name = function };
	struct function_name found;

	while (*s.next != '\0' && step(&s, function))
		;
	while (s.name != s.next && (*s.name == '*' || *s.name == '&'))
		s.name++;
	if (s.name == s.next) {
		/*
		 * The text has no name before the first '(', as in "int
		 * (*f(int))(char)".  So use the whole text as the name.
		 */
		s = (struct scan){ .name = function };
		s.next = function + strlen(function);
	}
	found.text = s.name;
	found.nbytes = (size_t)(s.next - s.name);
	found.bare_nbytes = found.nbytes;
	if (s.depth == 0 && s.arguments != NULL && s.arguments > s.name)
		found.bare_nbytes = (size_t)(s.arguments - s.name);
	while (found.bare_nbytes > 1 && s.name[found.bare_nbytes - 1] == ' ')
		found.bare_nbytes--;
	return found;
}

/* Does the pattern match the first 'nbytes' bytes of a text? */
static bool
matches_start(const char *glob, const char *text, size_t nbytes)
{
	char name[NAME_NBYTES];

	if (nbytes >= sizeof(name))
		return false;
	memcpy(name, text, nbytes);
	name[nbytes] = '\0';
	return fnmatch(glob, name, 0) == 0;
}

bool
function_name_matches(const char *glob, const char *function)
{
	const struct function_name name = function_name_find(function);

	return fnmatch(glob, function, 0) == 0 ||
	       matches_start(glob, name.text, name.nbytes) ||
	       (name.bare_nbytes != name.nbytes &&
		matches_start(glob, name.text, name.bare_nbytes));
}
