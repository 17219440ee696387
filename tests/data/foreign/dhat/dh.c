#include <stdlib.h>
void *
f(int n)
{
	return malloc(n);
}
int
main()
{
	void *a = f(10);
	void *b = f(20);
	a = realloc(a, 100);
	free(b);
	f(7);
	return !a;
}
