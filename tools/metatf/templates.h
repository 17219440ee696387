/* SPDX-License-Identifier: MIT */
/* templates.h - the parts of generated code that are the same for every DTD */
#ifndef TEMPLATES_H
#define TEMPLATES_H

/* Each template ends with a NUL. */
extern const char template_reader_py[];
extern const char template_head_h[];
extern const char template_tail_h[];
extern const char template_common_c[];
extern const char template_events_h[];

#endif /* TEMPLATES_H */
