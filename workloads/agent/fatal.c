#include "fatal.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

_Noreturn void fatal(const char *format, ...)
{
	char line[512];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(line, sizeof(line), format, arguments);
	va_end(arguments);
	fprintf(stderr, "ktrial-agent: %s\n", line);
	exit(1);
}
