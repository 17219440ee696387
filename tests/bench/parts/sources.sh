# SPDX-License-Identifier: MIT
# shellcheck shell=bash
#
# sources.sh - open programs, built from Debian's source packages with a change
#
# To be sourced.  'work' is an empty folder, the current one of all functions
# but build_*; 'sources' is a folder that has the packages' folders, or empty.

# The source packages, by a list of sources that only this call uses.
fetch()
{
	local release options
	local key=/usr/share/keyrings/debian-archive-keyring.gpg

	# shellcheck source=/dev/null
	release=$(. /etc/os-release && echo "$VERSION_CODENAME")
	mkdir -p lists/partial sources
	echo "deb-src [signed-by=$key] http://deb.debian.org/debian" \
		"$release main" >sources.list
	options=(-q -o "Dir::Etc::sourcelist=$work/sources.list"
		-o Dir::Etc::sourceparts=/dev/null
		-o "Dir::State::lists=$work/lists" -o Dir::Cache::pkgcache=
		-o Dir::Cache::srcpkgcache= -o "APT::Sandbox::User=$(id -un)")
	apt-get "${options[@]}" update &&
		(cd sources && apt-get "${options[@]}" source expat zopfli jq)
}

# build_expat FOLDER PROGRAM
build_expat()
{
	gcc -g -O1 -DXML_NS -DXML_DTD -DXML_CONTEXT_BYTES=1024 \
		-DXML_DEV_URANDOM -DHAVE_GETRANDOM -DHAVE_MEMMOVE \
		-DBYTEORDER=1234 -I "$1/expat/lib" \
		"$1"/expat/lib/xml{parse,role,tok}.c \
		"$1"/expat/xmlwf/{xmlwf,xmlfile,codepage,unixfilemap}.c -o "$2"
}

# build_zopfli FOLDER PROGRAM
build_zopfli()
{
	gcc -g -O1 "$1"/src/zopfli/*.c -lm -o "$2"
}

# build_jq FOLDER PROGRAM
build_jq()
{
	local src=$1/src part files=()

	# Each line of the library in jq's own language becomes a C string.
	sed 's/\\/\\\\/g; s/"/\\"/g; s/.*/"&\\n"/' "$src/builtin.jq" \
		>"$src/builtin.inc"
	echo '#define JQ_VERSION "1.6"' >"$src/version.h"
	for part in builtin bytecode compile execute jq_test jv jv_alloc \
		jv_aux jv_dtoa jv_file jv_parse jv_print jv_unicode linker \
		locfile util lexer parser main; do
		files+=("$src/$part.c")
	done
	gcc -w -g -O1 -D_GNU_SOURCE -DIEEE_8087 -DHAVE_MEMMEM -DHAVE_MKSTEMP \
		-I "$1" -I "$src" "${files[@]}" -lm -lpthread -o "$2"
}

# find_sources: download the packages unless 'sources' has a value.
find_sources()
{
	[ -n "$sources" ] && return
	fetch >log 2>&1 && sources=$work/sources && return
	tail -3 log >&2
	return 1
}

# copy_sources: make the folders expat, zopfli and jq.
copy_sources()
{
	local name

	for name in expat zopfli jq; do
		cp -r "$sources/$name"-[0-9]*/ $name || return 1
	done
}

# make_inputs: in.xml, in.txt and in.json for xmlwf, zopfli and jq.
make_inputs()
{
	{
		echo '<a>'
		for i in $(seq 2000); do
			echo "<p:b xmlns:p='urn:x$i'>$i</p:b>"
		done
		echo '</a>'
	} >in.xml
	seq 8000 >in.txt
	seq 2000 | sed 's/.*/{"id": &, "name": "n&"}/' >in.json
}

# leak_expat FOLDER: when an element ends, do not keep its binding for the next
# one.  addBinding() allocates it.
leak_expat()
{
	local line='^          b->nextTagBinding = parser->m_freeBindingList;$'

	sed -i "/$line/,+1d" "$1/expat/lib/xmlparse.c"
}

# leak_zopfli FOLDER: do not free a part of each cache, which ZopfliInitCache()
# allocates.
leak_zopfli()
{
	sed -i '/^  free(lmc->dist);$/d' "$1/src/zopfli/cache.c"
}

# leak_jq FOLDER: take a reference too many to each string of which a filter
# wants the length.  jvp_string_alloc() allocates it.
leak_jq()
{
	sed -i '/^static jv f_length/,/^}/{
		s/codepoints(input)/codepoints(jv_copy(input))/
	}' "$1/src/builtin.c"
}
