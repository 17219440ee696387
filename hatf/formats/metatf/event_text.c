/* SPDX-License-Identifier: MIT */
/* event_text.c - see event_text.h */
#include "hatf/formats/metatf/event_text.h"

#include "hatf/codec/comment_text.h"

#include <string.h>

/*
 * The number of steps (struct schema_step) with which every event record
 * begins: tag, time and thread.
 */
#define HEAD_STEPS 3

/* -------------------------------------------------------------------- shape */

static bool
is_number(const struct schema_record *r, uint32_t step, const char *name)
{
	return r->steps[step].kind == STEP_FIELD &&
	       !r->fields[r->steps[step].field].is_bytes &&
	       strcmp(r->steps[step].name, name) == 0;
}

/*
 * Is this step a nested record with this name and two fields, a number (the
 * length) and bytes?
 */
static bool
is_vfield(const struct schema_record *r, uint32_t step, const char *name)
{
	const struct schema_step *const s = &r->steps[step];

	return s->kind == STEP_NESTED && s->end == step + 3 &&
	       strcmp(s->name, name) == 0 && s[1].kind == STEP_FIELD &&
	       s[2].kind == STEP_FIELD && !r->fields[s[1].field].is_bytes &&
	       r->fields[s[2].field].is_bytes;
}

/*
 * Is the record's name DTD_RECORD, where DTD is the name of its fourth step?
 */
static bool
names_dtd(const struct schema_record *r)
{
	const char *const dtd = r->steps[HEAD_STEPS].name;
	const size_t nbytes = strlen(dtd);

	return strncmp(r->name, dtd, nbytes) == 0 && r->name[nbytes] == '_' &&
	       r->name[nbytes + 1] != '\0';
}

enum event_shape
event_text_shape(const struct schema_record *r)
{
	const struct schema_step *const last = &r->steps[HEAD_STEPS];

	if (r->role != ROLE_DATA || r->step_count <= HEAD_STEPS ||
	    !r->has_tag || !is_number(r, 1, "time") ||
	    !is_number(r, 2, "thread"))
		return EVENT_SHAPE_NONE;
	if (strcmp(r->name, EVENT_TEXT_RECORD) == 0)
		return r->step_count == HEAD_STEPS + 6 &&
				       is_vfield(r, HEAD_STEPS, "name") &&
				       is_vfield(r, HEAD_STEPS + 3, "text")
			       ? EVENT_SHAPE_TEXT
			       : EVENT_SHAPE_NONE;
	if (!names_dtd(r))
		return EVENT_SHAPE_NONE;
	if (last->kind == STEP_NESTED
		    ? last->end == r->step_count
		    : r->step_count == HEAD_STEPS + 1 &&
			      is_number(r, HEAD_STEPS, last->name))
		return EVENT_SHAPE_FIELDS;
	return EVENT_SHAPE_NONE;
}

/* ------------------------------------------------------------------ writing */

/* The state of writing the fields of a record as text. */
struct printer {
	const struct schema_record *r;
	const struct mtf_value *next, *end;
	struct text text;
	uint64_t last[SCHEMA_MAX_FIELDS];
};

static void
print_bytes(struct text *t, const struct mtf_value *v)
{
	static const char hex[] = "0123456789abcdef";

	text_bytes(t, "\"", 1);
	for (size_t i = 0; i < v->number && !t->full; i++) {
		const uint8_t c = v->bytes[i];
		const char escaped[4] = { '\\', 'x', hex[c >> 4], hex[c & 15] };
		const bool is_plain =
			c >= 0x20 && c <= 0x7e && c != '"' && c != '\\';

		text_bytes(t, is_plain ? (const char *)&v->bytes[i] : escaped,
			   is_plain ? 1 : 4);
	}
	text_bytes(t, "\"", 1);
}

static void
print_value(struct printer *p, uint32_t field)
{
	if (p->next == p->end) {
		p->text.full = true;
		return;
	}
	p->last[field] = p->next->number;
	if (p->r->fields[field].is_bytes)
		print_bytes(&p->text, p->next);
	else
		text_u64(&p->text, p->next->number);
	p->next++;
}

static void print_steps(struct printer *p, uint32_t first, uint32_t end);

static void
print_items(struct printer *p, uint32_t step)
{
	const struct schema_step *const s = &p->r->steps[step];
	const uint64_t count = p->last[s->field];

	for (uint64_t i = 0; i < count && !p->text.full; i++) {
		text_str(&p->text, i == 0 ? "" : " ");
		if (s->is_scalar) {
			print_value(p, s[1].field);
			continue;
		}
		text_str(&p->text, "{");
		print_steps(p, step + 1, s->end);
		text_str(&p->text, "}");
	}
}

static void
print_steps(struct printer *p, uint32_t first, uint32_t end)
{
	uint32_t i = first;

	while (i < end && !p->text.full) {
		const struct schema_step *const s = &p->r->steps[i];

		text_str(&p->text, i == first ? "" : " ");
		text_str(&p->text, s->name);
		text_str(&p->text, "=");
		if (s->kind == STEP_FIELD) {
			print_value(p, s->field);
			i++;
			continue;
		}
		text_str(&p->text, s->kind == STEP_REPEAT ? "[" : "{");
		if (s->kind == STEP_REPEAT)
			print_items(p, i);
		else
			print_steps(p, i + 1, s->end);
		text_str(&p->text, s->kind == STEP_REPEAT ? "]" : "}");
		i = s->end;
	}
}

/* Put the line 'fields'. */
static void
put_fields(struct text *t, const struct schema_record *r,
	   const struct mtf_value *values, size_t value_count)
{
	char buf[EVENT_NBYTES];
	struct printer p = { .r = r,
			     .next = values + HEAD_STEPS,
			     .end = values + value_count };

	text_init(&p.text, buf, sizeof(buf));
	if (r->steps[HEAD_STEPS].kind == STEP_NESTED)
		print_steps(&p, HEAD_STEPS + 1, r->step_count);
	text_line(t, "fields", buf, p.text.used);
	t->full |= p.text.full;
}

/* Put the line 'name' of an event with fields: DTD.RECORD. */
static void
put_name(struct text *t, const struct schema_record *r)
{
	const size_t dtd_nbytes = strlen(r->steps[HEAD_STEPS].name);
	char buf[512];
	struct text name;

	text_init(&name, buf, sizeof(buf));
	text_bytes(&name, r->name, dtd_nbytes);
	text_str(&name, ".");
	text_str(&name, r->name + dtd_nbytes + 1);
	text_line(t, "name", buf, name.used);
	t->full |= name.full;
}

size_t
event_text_comment(const struct schema_record *r,
		   const struct mtf_value *values, size_t value_count,
		   char *buf, size_t cap)
{
	struct text t;

	text_init(&t, buf, cap);
	text_str(&t, "HATF event\n");
	text_line_u64(&t, "thread", values[2].number);
	text_line_u64(&t, "time", values[1].number);
	if (event_text_shape(r) == EVENT_SHAPE_TEXT) {
		text_line(&t, "name", (const char *)values[4].bytes,
			  (size_t)values[4].number);
		text_line(&t, "text", (const char *)values[6].bytes,
			  (size_t)values[6].number);
	} else {
		put_name(&t, r);
		put_fields(&t, r, values, value_count);
	}
	return t.full ? 0 : t.used;
}

/* ------------------------------------------------------------------ reading */

bool
event_text_head(const char *comment, size_t nbytes, struct event_head *head)
{
	static const char kind[] = "HATF event\n";
	ptrdiff_t name, content;

	if (nbytes < sizeof(kind) - 1 ||
	    memcmp(comment, kind, sizeof(kind) - 1) != 0 ||
	    !text_find_u64(comment, nbytes, "thread", &head->thread) ||
	    !text_find_u64(comment, nbytes, "time", &head->time))
		return false;
	name = text_find(comment, nbytes, "name", head->name,
			 sizeof(head->name));
	content = text_find(comment, nbytes, "text", head->content,
			    sizeof(head->content));
	head->has_fields = content < 0;
	if (head->has_fields)
		content = text_find(comment, nbytes, "fields", head->content,
				    sizeof(head->content));
	if (name < 0 || (size_t)name >= sizeof(head->name) || content < 0 ||
	    (size_t)content >= sizeof(head->content))
		return false;
	head->content_nbytes = (size_t)content;
	return true;
}

/* The state of reading the fields of a record from text. */
struct parser {
	const struct schema_record *r;
	const char *next, *end;
	struct event_values *v;
	uint64_t last[SCHEMA_MAX_FIELDS];
};

static bool
take(struct parser *p, const char *word)
{
	const size_t nbytes = strlen(word);

	if ((size_t)(p->end - p->next) < nbytes ||
	    memcmp(p->next, word, nbytes) != 0)
		return false;
	p->next += nbytes;
	return true;
}

static bool
add_value(struct event_values *v, uint64_t number, const char *bytes)
{
	if (v->value_count == EVENT_VALUES)
		return false;
	v->values[v->value_count++] =
		(struct mtf_value){ number, (const uint8_t *)bytes };
	return true;
}

static bool
parse_number(struct parser *p, uint64_t *n_ret)
{
	const char *const first = p->next;
	uint64_t n = 0;

	for (; p->next < p->end && *p->next >= '0' && *p->next <= '9';
	     p->next++)
		if (__builtin_mul_overflow(n, 10u, &n) ||
		    __builtin_add_overflow(n, (uint64_t)(*p->next - '0'), &n))
			return false;
	*n_ret = n;
	return p->next != first && add_value(p->v, n, NULL);
}

/* Return the value of a lower-case hexadecimal digit, or -1. */
static int
hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Take a byte of a string.  Return false if its escape is malformed. */
static bool
parse_byte(struct parser *p, char *c_ret)
{
	int high, low;

	if (*p->next != '\\') {
		*c_ret = *p->next++;
		return true;
	}
	if (p->end - p->next < 4 || p->next[1] != 'x')
		return false;
	high = hex_digit(p->next[2]);
	low = hex_digit(p->next[3]);
	if (high < 0 || low < 0)
		return false;
	*c_ret = (char)(high << 4 | low);
	p->next += 4;
	return true;
}

/*
 * Parse a string.  All strings of an event together have fewer bytes than
 * head->content, so v->bytes has room for them.
 */
static bool
parse_bytes(struct parser *p)
{
	struct event_values *const v = p->v;
	char *const bytes = v->bytes + v->byte_count;
	size_t nbytes = 0;

	if (!take(p, "\""))
		return false;
	while (p->next < p->end && *p->next != '"')
		if (!parse_byte(p, &bytes[nbytes++]))
			return false;
	v->byte_count += nbytes;
	return take(p, "\"") && add_value(v, nbytes, bytes);
}

static bool
parse_value(struct parser *p, uint32_t field)
{
	return p->r->fields[field].is_bytes ? parse_bytes(p)
					    : parse_number(p, &p->last[field]);
}

static bool parse_steps(struct parser *p, uint32_t first, uint32_t end);

/*
 * Parse the items of a step.  An item takes at least one byte of text, so the
 * length of the text bounds the number of items.
 */
static bool
parse_items(struct parser *p, uint32_t step)
{
	const struct schema_step *const s = &p->r->steps[step];
	const uint64_t count = p->last[s->field];

	for (uint64_t i = 0; i < count; i++) {
		if (i != 0 && !take(p, " "))
			return false;
		if (s->is_scalar ? !parse_value(p, s[1].field)
				 : !(take(p, "{") &&
				     parse_steps(p, step + 1, s->end) &&
				     take(p, "}")))
			return false;
	}
	return true;
}

static bool
parse_steps(struct parser *p, uint32_t first, uint32_t end)
{
	uint32_t i = first;

	while (i < end) {
		const struct schema_step *const s = &p->r->steps[i];

		if ((i != first && !take(p, " ")) || !take(p, s->name) ||
		    !take(p, "="))
			return false;
		if (s->kind == STEP_FIELD) {
			if (!parse_value(p, s->field))
				return false;
			i++;
			continue;
		}
		if (s->kind == STEP_REPEAT
			    ? !(take(p, "[") && parse_items(p, i) &&
				take(p, "]"))
			    : !(take(p, "{") && parse_steps(p, i + 1, s->end) &&
				take(p, "}")))
			return false;
		i = s->end;
	}
	return true;
}

/* Add two values: a length, and the bytes of that length. */
static bool
add_vfield(struct event_values *v, const char *bytes, size_t nbytes)
{
	return add_value(v, nbytes, NULL) && add_value(v, nbytes, bytes);
}

bool
event_text_values(const struct schema_record *r, const struct event_head *head,
		  struct event_values *v)
{
	struct parser p = { .r = r,
			    .next = head->content,
			    .end = head->content + head->content_nbytes,
			    .v = v };

	v->value_count = v->byte_count = 0;
	add_value(v, r->tag, NULL);
	add_value(v, head->time, NULL);
	add_value(v, head->thread, NULL);
	if (!head->has_fields)
		return add_vfield(v, head->name, strlen(head->name)) &&
		       add_vfield(v, head->content, head->content_nbytes);
	if (r->steps[HEAD_STEPS].kind == STEP_FIELD)
		return add_value(v, 0, NULL);
	return parse_steps(&p, HEAD_STEPS + 1, r->step_count);
}
