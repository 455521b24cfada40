/* Short files of one value, as sysfs has them. */
#ifndef KTRIAL_SYSFS_H
#define KTRIAL_SYSFS_H

#include <stddef.h>

/* Reads the first line of a file, without its newline. Returns 0 when it can't. */
int sysfs_read(const char *path, char *text, size_t size);

#endif
