#include "sysfs.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

int sysfs_read(const char *path, char *text, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, size - 1);

	if (fd >= 0)
		close(fd);
	if (n < 0)
		return 0;
	text[n] = '\0';
	text[strcspn(text, "\n")] = '\0';
	return 1;
}
