# SPDX-License-Identifier: MIT
"""
Print a C program that reads a trace with generated code and writes it with
generated code.

usage: metatf_copy.py NAME <NAME.h

The program: copy IN OUT FLAGS [MOST], reading up to MOST records at once.
Exit status 1: IN is wrong, 3: a record cannot
be written.
"""
import re
import sys

name = sys.argv[1]
puts = re.findall(
    r'bool %s_writer_put_(\w+)\(struct %s_writer \*w'
    r'(, enum %s_section section)?,\s+const struct' %
    (name, name, name), sys.stdin.read())
lines = [
    '#include "%s.h"' % name,
    '#include <stdio.h>',
    '#include <stdlib.h>',
    'int main(int argc, char **argv)',
    '{',
    ' struct N_reader *const r = N_reader_open(argv[1]);',
    ' struct N_writer *const w =',
    '  N_writer_open(argv[2], (unsigned)atoi(argv[3]));',
    ' struct N_record *recs, rec;',
    ' const size_t most = argc > 4 ? (size_t)atoi(argv[4]) : 1;',
    ' size_t count = 0;',
    ' const char *why = NULL;',
    ' bool ok = argc >= 4 && r != NULL && w != NULL;',
    ' int status;',
    ' recs = calloc(most, sizeof(*recs));',
    ' while (ok && recs != NULL &&',
    '        (count = argc > 4 ? N_reader_read(r, recs, most)',
    '                          : N_reader_next(r, recs)) != 0)',
    ' for (size_t i = 0; ok && i < count; i++) {',
    '  rec = recs[i];',
    '  switch ((int)rec.type) {',
    '  case U_TYPE_COMMENT:',
    '   ok = N_writer_put_comment(w, rec.section,',
    '    (const char *)rec.u.comment.text.bytes,',
    '    rec.u.comment.text.nbytes);',
    '   break;']
for record, section in puts:
    if record != 'comment':
        lines += ['  case U_TYPE_%s:' % record.upper(),
                  '   ok = N_writer_put_%s(w%s, &rec.u.as_%s);' % (
                      record, ', rec.section' if section else '', record),
                  '   break;']
lines += [
    '  default:',
    '   return 9;',
    '  }',
    ' }',
    ' free(recs);',
    ' if (r == NULL || w == NULL) {',
    '  printf("cannot open\\n");',
    '  return 1;',
    ' }',
    ' status = N_reader_error(r) != NULL ? 1 : ok ? 0 : 3;',
    ' if (status != 0)',
    '  printf("%s\\n", status == 1 ? N_reader_error(r) : '
    'N_writer_error(w));',
    ' if (!N_writer_close(w, &why) && status == 0) {',
    '  printf("%s\\n", why);',
    '  status = 3;',
    ' }',
    ' N_reader_close(r);',
    ' return status;',
    '}']
print('\n'.join(lines).replace('N_', name + '_')
      .replace('U_', name.upper() + '_'))
