# SPDX-License-Identifier: MIT
#
# make_c.awk - write a C translation unit with -v functions=N functions
#
# Structures, switches, loops, floating point and calls among the functions
# give the optimizer the same kinds of work as real sources.

function rnd(n)
{
	seed = (seed * 16807) % 2147483647
	return seed % n
}

function expr(d,    r)
{
	r = rnd(8)
	if (d == 0 || r == 0)
		return "(" substr("abxy", 1 + rnd(4), 1) ")"
	if (r == 1)
		return "(" rnd(1000) ")"
	if (r == 2)
		return "tab[(unsigned)" expr(d - 1) " % 64]"
	if (r == 3)
		return "(" expr(d - 1) " > " expr(d - 1) " ? x : y)"
	return "(" expr(d - 1) " " substr("+-*&^|", 1 + rnd(6), 1) " " \
		expr(d - 1) ")"
}

function body_switch(i,    k)
{
	print "\tswitch (a & 7) {"
	for (k = 0; k < 7; k++)
		print "\tcase " k ": x += " expr(3) "; break;"
	print "\tdefault: y ^= " expr(2) ";\n\t}"
}

function body_loop(i)
{
	print "\tfor (int k = 0; k < (b & 31); k++) {"
	print "\t\tx = x * 31 + " expr(3) ";"
	print "\t\tif (x & 1)\n\t\t\ty += " expr(3) ";"
	print "\t\telse\n\t\t\ty -= tab[k];\n\t}"
}

function body_struct(i)
{
	print "\tstruct s" i % 16 " s = { .n = a, .f = b * 0.5, .next = 0 };"
	print "\tstruct s" i % 16 " *p = &s;"
	print "\tfor (int k = 0; k < 8; k++)\n\t\tp->v[k] = (short)" expr(3) ";"
	print "\tx += (int)(p->f * " 1 + rnd(9) ".25) + p->v[(unsigned)y % 8];"
	print "\tif (x > y)\n\t\tx = snprintf(p->text, sizeof(p->text), " \
		"\"%d/%d\", x, y);"
}

BEGIN {
	seed = 1
	print "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>"
	print "#include <math.h>\n#include <time.h>\n#include <unistd.h>"
	print "#include <pthread.h>\n#include <signal.h>\n#include <sys/stat.h>"
	print "#include <sys/socket.h>\n#include <netinet/in.h>"
	print "extern int tab[64];"
	for (i = 0; i < 16; i++)
		print "struct s" i " { int n; double f; struct s" i \
			" *next; short v[8]; char text[" 16 + i "]; };"
	for (i = 0; i < functions; i++) {
		print "int f" i "(int a, int b)\n{\n\tint x = a, y = b;"
		body_switch(i)
		body_loop(i)
		body_struct(i)
		if (i > 3)
			print "\tx += f" rnd(i) "(x, " expr(2) ");"
		print "\treturn " expr(3) ";\n}\n"
	}
}
