/* SPDX-License-Identifier: MIT */
/* cfi.c - see cfi.h */

#include "preload/stacks/cfi.h"

#include <string.h>

#include "preload/stacks/cfi_cursor.h"

/* How many rows DW_CFA_remember_state can store at a time. */
#define REMEMBERED_MAX 4u

/* Encodings of pointers (LSB 5.0, table 10.5). */
enum {
	PE_ABSPTR = 0x00,
	PE_ULEB128 = 0x01,
	PE_UDATA2 = 0x02,
	PE_UDATA4 = 0x03,
	PE_UDATA8 = 0x04,
	PE_SLEB128 = 0x09,
	PE_SDATA2 = 0x0a,
	PE_SDATA4 = 0x0b,
	PE_SDATA8 = 0x0c,
	PE_FORMAT = 0x0f,
	PE_PCREL = 0x10,
	PE_DATAREL = 0x30,
	PE_APPLICATION = 0x70,
	PE_INDIRECT = 0x80,
	PE_OMIT = 0xff,
};

/* Instructions (DWARF 5, section 7.24; the last two are GNU's). */
enum {
	/* these three have an operand in the low six bits */
	CFA_ADVANCE_LOC = 0x40,
	CFA_OFFSET = 0x80,
	CFA_RESTORE = 0xc0,
	CFA_NOP = 0x00,
	CFA_SET_LOC = 0x01,
	CFA_ADVANCE_LOC1 = 0x02,
	CFA_ADVANCE_LOC2 = 0x03,
	CFA_ADVANCE_LOC4 = 0x04,
	CFA_OFFSET_EXTENDED = 0x05,
	CFA_RESTORE_EXTENDED = 0x06,
	CFA_UNDEFINED = 0x07,
	CFA_SAME_VALUE = 0x08,
	CFA_REGISTER = 0x09,
	CFA_REMEMBER_STATE = 0x0a,
	CFA_RESTORE_STATE = 0x0b,
	CFA_DEF_CFA = 0x0c,
	CFA_DEF_CFA_REGISTER = 0x0d,
	CFA_DEF_CFA_OFFSET = 0x0e,
	CFA_DEF_CFA_EXPRESSION = 0x0f,
	CFA_EXPRESSION = 0x10,
	CFA_OFFSET_EXTENDED_SF = 0x11,
	CFA_DEF_CFA_SF = 0x12,
	CFA_DEF_CFA_OFFSET_SF = 0x13,
	CFA_VAL_OFFSET = 0x14,
	CFA_VAL_OFFSET_SF = 0x15,
	CFA_VAL_EXPRESSION = 0x16,
	CFA_GNU_ARGS_SIZE = 0x2e,
	CFA_GNU_NEGATIVE_OFFSET_EXTENDED = 0x2f,
};

/* Read a number in the format that 'encoding' says, without adding a base. */
static uint64_t
take_format(struct cfi_cursor *c, unsigned encoding)
{
	switch (encoding & PE_FORMAT) {
	case PE_ULEB128:
		return cfi_take_uleb(c);
	case PE_SLEB128:
		return (uint64_t)cfi_take_sleb(c);
	case PE_UDATA2:
		return cfi_take(c, 2);
	case PE_UDATA4:
		return cfi_take(c, 4);
	case PE_SDATA2:
		return (uint64_t)(int64_t)(int16_t)cfi_take(c, 2);
	case PE_SDATA4:
		return (uint64_t)(int64_t)(int32_t)cfi_take(c, 4);
	case PE_ABSPTR:
	case PE_UDATA8:
	case PE_SDATA8:
		return cfi_take(c, 8);
	default:
		c->is_bad = true;
		return 0;
	}
}

/* Read an encoded pointer; PE_DATAREL is relative to 'index'. */
static uintptr_t
take_pointer(struct cfi_cursor *c, unsigned encoding, const uint8_t *index)
{
	const uintptr_t here = (uintptr_t)c->next;
	const uint64_t n = take_format(c, encoding);

	switch (encoding & (PE_APPLICATION | PE_INDIRECT)) {
	case 0:
		return n;
	case PE_PCREL:
		return here + n;
	case PE_DATAREL:
		return (uintptr_t)index + n;
	default:
		c->is_bad = true;
		return 0;
	}
}

static bool
is_within(const struct cfi_section *section, uintptr_t address)
{
	return address >= (uintptr_t)section->begin &&
	       address < (uintptr_t)section->end;
}

/* Return a cursor from 'address' to the end of the section. */
static struct cfi_cursor
cursor_at(const struct cfi_section *section, uintptr_t address)
{
	struct cfi_cursor c = { NULL, NULL, true };

	if (is_within(section, address)) {
		c.next = section->begin + (address - (uintptr_t)section->begin);
		c.end = section->end;
		c.is_bad = false;
	}
	return c;
}

/*
 * Search the sorted table of .eh_frame_hdr (LSB 5.0, section 10.6.2) for the
 * last function that begins at or before 'pc'.  Return the address of its frame
 * description entry (FDE), or 0.  Linkers write the table with offsets of four
 * bytes, which count from the start of .eh_frame_hdr.
 */
static uintptr_t
find_fde(const struct cfi_section *section, uintptr_t pc)
{
	struct cfi_cursor c = cursor_at(section, (uintptr_t)section->index);
	const uint8_t version = (uint8_t)cfi_take(&c, 1);
	const uint8_t frame_encoding = (uint8_t)cfi_take(&c, 1);
	const uint8_t count_encoding = (uint8_t)cfi_take(&c, 1);
	const uint8_t table_encoding = (uint8_t)cfi_take(&c, 1);
	uint64_t count, low = 0, high;
	int32_t entry[2];

	take_pointer(&c, frame_encoding, section->index);
	if (c.is_bad || version != 1 || count_encoding == PE_OMIT ||
	    table_encoding != (PE_DATAREL | PE_SDATA4))
		return 0;
	count = take_pointer(&c, count_encoding, section->index);
	if (c.is_bad || count > (uint64_t)(c.end - c.next) / sizeof(entry))
		return 0;
	for (high = count; low < high;) {
		const uint64_t middle = low + (high - low) / 2;

		memcpy(entry, c.next + middle * sizeof(entry), sizeof(entry));
		if ((uintptr_t)section->index + (intptr_t)entry[0] <= pc)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == 0)
		return 0;
	memcpy(entry, c.next + (low - 1) * sizeof(entry), sizeof(entry));
	return (uintptr_t)section->index + (intptr_t)entry[1];
}

/*
 * A common information entry (CIE): the data that several frame description
 * entries (FDEs) share.
 */
struct cie {
	uint64_t code_align;
	int64_t data_align;
	uint8_t pointer_encoding;
	/* the FDEs that refer to this CIE have an augmentation length */
	bool has_length;
	bool is_signal_frame;
	struct cfi_cursor instructions;
};

/*
 * Read the length at the start of an entry, and set the cursor's end to the end
 * of the entry.  The length 0xffffffff would mean that a longer length field
 * follows.  No linker for x86-64 writes such a field, so fail.
 */
static void
enter_entry(struct cfi_cursor *c)
{
	const uint64_t nbytes = cfi_take(c, 4);

	if (c->is_bad || nbytes == 0 || nbytes == UINT32_MAX ||
	    nbytes > (uint64_t)(c->end - c->next))
		c->is_bad = true;
	else
		c->end = c->next + nbytes;
}

static bool
read_augmentation(struct cfi_cursor *c, const char *letters, struct cie *cie)
{
	const uint8_t *end;
	uint64_t nbytes;

	if (letters[0] == '\0')
		return true;
	if (letters[0] != 'z')
		return false;
	cie->has_length = true;
	nbytes = cfi_take_uleb(c);
	if (c->is_bad || nbytes > (uint64_t)(c->end - c->next))
		return false;
	end = c->next + nbytes;
	for (const char *letter = letters + 1; *letter != '\0'; letter++) {
		if (*letter == 'R') {
			cie->pointer_encoding = (uint8_t)cfi_take(c, 1);
		} else if (*letter == 'P') {
			const unsigned encoding = (unsigned)cfi_take(c, 1);

			take_format(c, encoding);
		} else if (*letter == 'L') {
			cfi_take(c, 1);
		} else if (*letter == 'S') {
			cie->is_signal_frame = true;
		} else {
			break; /* an unknown letter: continue at 'end' */
		}
	}
	c->next = end;
	return !c->is_bad;
}

static bool
read_cie(const struct cfi_section *section, uintptr_t address, struct cie *cie)
{
	struct cfi_cursor c = cursor_at(section, address);
	const char *letters;
	uint64_t version, return_register;

	memset(cie, 0, sizeof(*cie));
	enter_entry(&c);
	if (cfi_take(&c, 4) != 0)
		return false;
	version = cfi_take(&c, 1);
	if (c.is_bad || (version != 1 && version != 3) ||
	    memchr(c.next, 0, (size_t)(c.end - c.next)) == NULL)
		return false;
	letters = (const char *)c.next;
	cfi_skip(&c, strlen(letters) + 1);
	cie->code_align = cfi_take_uleb(&c);
	cie->data_align = cfi_take_sleb(&c);
	return_register = version == 1 ? cfi_take(&c, 1) : cfi_take_uleb(&c);
	if (c.is_bad || return_register != CFI_RETURN ||
	    !read_augmentation(&c, letters, cie))
		return false;
	cie->instructions = c;
	return true;
}

/* The state of the interpreter of the instructions. */
struct machine {
	const struct cfi_section *section;
	const struct cie *cie;
	/*
	 * 'pc' is the first address to which the present row applies.  'wanted'
	 * is the address for which a row must be found.
	 */
	uintptr_t pc, wanted;
	struct cfi_row *row;
	/*
	 * The row after the instructions of the CIE.  NULL while these
	 * instructions are being interpreted.
	 */
	const struct cfi_row *initial;
	struct cfi_row remembered[REMEMBERED_MAX];
	unsigned remembered_count;
};

static void
set_rule(struct machine *m, uint64_t reg, enum cfi_how how, int64_t offset)
{
	struct cfi_rule *rule;

	if (reg >= CFI_REGISTERS)
		return; /* an untracked register, such as a vector register */
	rule = &m->row->caller[reg];
	rule->how = (uint8_t)how;
	rule->offset = (int32_t)offset;
	/*
	 * If the offset does not fit into 'rule->offset', the rule is unknown.
	 */
	if (rule->offset != offset)
		rule->how = CFI_UNDEFINED;
}

/*
 * Store the place and the length of an expression in 'rule', and skip the
 * expression.
 */
static void
take_expression(struct machine *m, struct cfi_cursor *c, struct cfi_rule *rule,
		enum cfi_how how)
{
	const uint64_t nbytes = cfi_take_uleb(c);
	const uint8_t *const expression = c->next;
	const uint64_t position = (uint64_t)(expression - m->section->begin);

	cfi_skip(c, nbytes);
	if (nbytes > UINT16_MAX || position > UINT32_MAX)
		c->is_bad = true;
	rule->how = (uint8_t)how;
	rule->expression = (uint32_t)position;
	rule->expression_nbytes = (uint16_t)nbytes;
}

static void
set_register_expression(struct machine *m, struct cfi_cursor *c,
			enum cfi_how how)
{
	const uint64_t reg = cfi_take_uleb(c);
	struct cfi_rule vector;

	take_expression(m, c,
			reg < CFI_REGISTERS ? &m->row->caller[reg] : &vector,
			how);
}

static void
set_cfa(struct machine *m, struct cfi_cursor *c, uint64_t reg, int64_t offset)
{
	struct cfi_row *const row = m->row;

	row->cfa.how = CFI_OFFSET;
	row->cfa.offset = (int32_t)offset;
	row->cfa_register = (uint8_t)reg;
	if (reg >= CFI_REGISTERS || row->cfa.offset != offset)
		c->is_bad = true;
}

static void
restore(struct machine *m, struct cfi_cursor *c, uint64_t reg)
{
	if (m->initial == NULL)
		c->is_bad = true;
	else if (reg < CFI_REGISTERS)
		m->row->caller[reg] = m->initial->caller[reg];
}

static void
remember_or_restore(struct machine *m, struct cfi_cursor *c, bool is_remember)
{
	if (is_remember ? m->remembered_count == REMEMBERED_MAX
			: m->remembered_count == 0) {
		c->is_bad = true;
		return;
	}
	if (is_remember)
		m->remembered[m->remembered_count++] = *m->row;
	else
		*m->row = m->remembered[--m->remembered_count];
}

/* Interpret an instruction that changes the CFA. */
static bool
run_cfa(struct machine *m, struct cfi_cursor *c, unsigned op)
{
	const int64_t align = m->cie->data_align;
	uint64_t reg;

	switch (op) {
	case CFA_DEF_CFA:
		reg = cfi_take_uleb(c);
		set_cfa(m, c, reg, (int64_t)cfi_take_uleb(c));
		return true;
	case CFA_DEF_CFA_SF:
		reg = cfi_take_uleb(c);
		set_cfa(m, c, reg, cfi_take_sleb(c) * align);
		return true;
	case CFA_DEF_CFA_REGISTER:
		set_cfa(m, c, cfi_take_uleb(c), m->row->cfa.offset);
		return true;
	case CFA_DEF_CFA_OFFSET:
		set_cfa(m, c, m->row->cfa_register, (int64_t)cfi_take_uleb(c));
		return true;
	case CFA_DEF_CFA_OFFSET_SF:
		set_cfa(m, c, m->row->cfa_register, cfi_take_sleb(c) * align);
		return true;
	case CFA_DEF_CFA_EXPRESSION:
		take_expression(m, c, &m->row->cfa, CFI_EXPRESSION);
		return true;
	default:
		return false;
	}
}

/* Interpret an instruction that sets the rule of a register. */
static bool
run_register(struct machine *m, struct cfi_cursor *c, unsigned op)
{
	const int64_t align = m->cie->data_align;
	uint64_t reg;

	switch (op) {
	case CFA_OFFSET_EXTENDED:
		reg = cfi_take_uleb(c);
		set_rule(m, reg, CFI_AT_OFFSET,
			 (int64_t)cfi_take_uleb(c) * align);
		return true;
	case CFA_OFFSET_EXTENDED_SF:
		reg = cfi_take_uleb(c);
		set_rule(m, reg, CFI_AT_OFFSET, cfi_take_sleb(c) * align);
		return true;
	case CFA_GNU_NEGATIVE_OFFSET_EXTENDED:
		reg = cfi_take_uleb(c);
		set_rule(m, reg, CFI_AT_OFFSET,
			 -(int64_t)cfi_take_uleb(c) * align);
		return true;
	case CFA_VAL_OFFSET:
		reg = cfi_take_uleb(c);
		set_rule(m, reg, CFI_OFFSET, (int64_t)cfi_take_uleb(c) * align);
		return true;
	case CFA_VAL_OFFSET_SF:
		reg = cfi_take_uleb(c);
		set_rule(m, reg, CFI_OFFSET, cfi_take_sleb(c) * align);
		return true;
	case CFA_REGISTER:
		reg = cfi_take_uleb(c);
		set_rule(m, reg, CFI_IN_REGISTER, (int64_t)cfi_take_uleb(c));
		return true;
	case CFA_UNDEFINED:
		set_rule(m, cfi_take_uleb(c), CFI_UNDEFINED, 0);
		return true;
	case CFA_SAME_VALUE:
		set_rule(m, cfi_take_uleb(c), CFI_SAME, 0);
		return true;
	case CFA_RESTORE_EXTENDED:
		restore(m, c, cfi_take_uleb(c));
		return true;
	case CFA_EXPRESSION:
		set_register_expression(m, c, CFI_AT_EXPRESSION);
		return true;
	case CFA_VAL_EXPRESSION:
		set_register_expression(m, c, CFI_EXPRESSION);
		return true;
	default:
		return false;
	}
}

/*
 * Interpret an instruction that neither run_cfa() nor run_register()
 * interprets.
 */
static void
run_other(struct machine *m, struct cfi_cursor *c, unsigned op)
{
	const uint64_t align = m->cie->code_align;

	switch (op) {
	case CFA_NOP:
		break;
	case CFA_SET_LOC:
		m->pc = take_pointer(c, m->cie->pointer_encoding,
				     m->section->index);
		break;
	case CFA_ADVANCE_LOC1:
		m->pc += cfi_take(c, 1) * align;
		break;
	case CFA_ADVANCE_LOC2:
		m->pc += cfi_take(c, 2) * align;
		break;
	case CFA_ADVANCE_LOC4:
		m->pc += cfi_take(c, 4) * align;
		break;
	case CFA_REMEMBER_STATE:
	case CFA_RESTORE_STATE:
		remember_or_restore(m, c, op == CFA_REMEMBER_STATE);
		break;
	case CFA_GNU_ARGS_SIZE:
		cfi_take_uleb(c);
		break;
	default:
		c->is_bad = true;
	}
}

/* Interpret the instructions up to the row for the address 'wanted'. */
static bool
run(struct machine *m, struct cfi_cursor c)
{
	while (c.next < c.end && !c.is_bad) {
		const unsigned byte = (unsigned)cfi_take(&c, 1);
		const unsigned operand = byte & 0x3f;

		switch (byte & 0xc0) {
		case CFA_ADVANCE_LOC:
			m->pc += operand * m->cie->code_align;
			break;
		case CFA_OFFSET:
			set_rule(m, operand, CFI_AT_OFFSET,
				 (int64_t)cfi_take_uleb(&c) *
					 m->cie->data_align);
			break;
		case CFA_RESTORE:
			restore(m, &c, operand);
			break;
		default:
			if (!run_cfa(m, &c, byte) && !run_register(m, &c, byte))
				run_other(m, &c, byte);
		}
		if (m->pc > m->wanted)
			break;
	}
	return !c.is_bad;
}

bool
cfi_find_row(const struct cfi_section *section, uintptr_t pc,
	     struct cfi_row *row_ret)
{
	struct cfi_cursor c = cursor_at(section, find_fde(section, pc));
	struct machine m = { .section = section };
	struct cfi_row initial;
	struct cie cie;
	uintptr_t here, begin, nbytes;
	uint64_t back;

	enter_entry(&c);
	here = (uintptr_t)c.next;
	back = cfi_take(&c, 4);
	if (c.is_bad || back == 0 || !read_cie(section, here - back, &cie))
		return false;
	begin = take_pointer(&c, cie.pointer_encoding, section->index);
	nbytes = take_format(&c, cie.pointer_encoding);
	if (cie.has_length)
		cfi_skip(&c, cfi_take_uleb(&c));
	if (c.is_bad || pc < begin || pc - begin >= nbytes)
		return false;
	memset(row_ret, 0, sizeof(*row_ret));
	row_ret->is_signal_frame = cie.is_signal_frame;
	row_ret->caller[CFI_RSP] = (struct cfi_rule){ .how = CFI_OFFSET };
	m.cie = &cie;
	m.row = row_ret;
	m.wanted = UINTPTR_MAX;
	if (!run(&m, cie.instructions))
		return false;
	initial = *row_ret;
	m.initial = &initial;
	m.pc = begin;
	m.wanted = pc;
	return run(&m, c) && row_ret->cfa.how != CFI_SAME;
}
