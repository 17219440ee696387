#!/bin/bash
# SPDX-License-Identifier: MIT
#
# metatf-tutorial.sh - docs/metatf.md does what it says, word by word
#
# A block after a line with a file name in backquotes is this file.  A block of
# 'sh' is run, and must print the block without a language that follows it.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

command -v python3 >/dev/null || skip 'no python3'

cat >page.py <<'END'
import os
import re
import subprocess
import sys

page, hatf, headers = sys.argv[1:]
bin_dir = os.path.abspath('bin')
os.makedirs(bin_dir, exist_ok=True)
if not os.path.exists(bin_dir + '/hatf'):
    os.symlink(hatf, bin_dir + '/hatf')
# As installed: hatftrace.h in a folder of the compiler's.
env = dict(os.environ, PATH=bin_dir + ':' + os.environ['PATH'],
           CPATH=headers)
blocks = re.findall(r'(?:^`([\w.]+)`:\n\n)?^```(\w*)\n(.*?)^```$',
                    open(page).read(), re.M | re.S)
output, runs = None, 0
for name, language, text in blocks:
    if name:
        with open(name, 'w') as file:
            file.write(text)
    elif language == 'sh':
        done = subprocess.run(['sh', '-e', '-c', text], env=env, text=True,
                              capture_output=True)
        complaint = re.sub('^hatf record: .*, no events lost.*\n', '',
                           done.stderr)
        if done.returncode or complaint:
            sys.exit('%s\n%s%s' % (text, done.stdout, done.stderr))
        output, runs = done.stdout, runs + 1
    elif text.startswith('struct'):
        if text not in open('requests.h').read():
            sys.exit('the header lacks:\n' + text)
    elif output != text:
        sys.exit('want:\n%s\ngot:\n%s' % (text, output))
if runs < 6:
    sys.exit('only %d blocks were run' % runs)
END
python3 page.py "$CLI/../../docs/metatf.md" "$HATF" "$CLI/../../preload" ||
	fail 'the page is wrong'

finish
