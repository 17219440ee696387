/* SPDX-License-Identifier: MIT */
/* templates.h - the parts of generated code that no DTD changes */
#ifndef TEMPLATES_H
#define TEMPLATES_H

/* Each ends with a NUL. */
extern const char template_reader_py[];
extern const char template_head_h[];
extern const char template_tail_h[];
extern const char template_common_c[];

#endif /* TEMPLATES_H */
