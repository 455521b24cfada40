#ifndef KTRIAL_FATAL_H
#define KTRIAL_FATAL_H

/* One line on the console, then the end. */
__attribute__((format(printf, 1, 2)))
_Noreturn void fatal(const char *format, ...);

#endif
