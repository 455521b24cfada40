#define _GNU_SOURCE

#include "fatal.h"
#include "sysfs.h"
#include "system.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/reboot.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* linux/random.h, which a C library alone does not bring. */
#ifndef RNDADDENTROPY
#define RNDADDENTROPY _IOW('R', 0x03, int[2])
#define RNDRESEEDCRNG _IO('R', 0x07)
#endif

/* A multiple of 64, as the kernel wants it; a table of 16 million descriptors
 * also holds the tenth that fd-churn adds to its largest number. */
#define MAX_DESCRIPTORS 16777216
#define MAX_FILES "33554432"
#define TEXT_OF(x) #x
#define TEXT(x) TEXT_OF(x)

#define PORTS "/sys/class/virtio-ports"
#define PORT_NAME "ktrial.results"
#define MARKS_NAME "ktrial.marks"
#define PATH_BYTES (sizeof(PORTS) + 256 + sizeof("//name"))
#define PORT_WAIT_MS 10000
#define PORT_STEP_MS 10

static void mount_at(const char *type, const char *where)
{
	mkdir(where, 0755);
	if (mount(type, where, type, 0, NULL) < 0 && errno != EBUSY)
		fatal("cannot mount %s at %s: %s", type, where, strerror(errno));
}

void system_mount(void)
{
	int console;

	mount_at("devtmpfs", "/dev");
	console = open("/dev/console", O_RDWR | O_NOCTTY);
	for (int fd = 0; console >= 0 && fd <= STDERR_FILENO; fd++)
		dup2(console, fd);
	if (console > STDERR_FILENO)
		close(console);
	mount_at("proc", "/proc");
	mount_at("sysfs", "/sys");
	mount_at("tmpfs", "/tmp");
}

/* Without udev there are no /dev/virtio-ports/<name>, so the name is looked up
 * in /sys. Returns 0 when no port has it (yet). */
static int find_port(const char *wanted, char device[PATH_BYTES])
{
	DIR *ports = opendir(PORTS);
	struct dirent *port;
	int found = 0;

	while (ports && !found && (port = readdir(ports)) != NULL) {
		char path[PATH_BYTES], name[64];

		snprintf(path, sizeof(path), PORTS "/%s/name", port->d_name);
		found = sysfs_read(path, name, sizeof(name)) && strcmp(name, wanted) == 0;
		if (found)
			snprintf(device, PATH_BYTES, "/dev/%s", port->d_name);
	}
	if (ports)
		closedir(ports);
	return found;
}

int system_open_results(void)
{
	const struct timespec step = { 0, PORT_STEP_MS * 1000000L };
	char device[PATH_BYTES];
	int fd;

	for (int waited = 0; waited <= PORT_WAIT_MS; waited += PORT_STEP_MS) {
		fd = find_port(PORT_NAME, device) ? open(device, O_WRONLY | O_CLOEXEC) : -1;
		if (fd >= 0)
			return fd;
		nanosleep(&step, NULL);
	}
	fd = open("/dev/vport0p1", O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		fatal("no virtio-serial port %s after %d ms (CONFIG_VIRTIO_CONSOLE, -device"
		      " virtserialport)", PORT_NAME, PORT_WAIT_MS);
	return fd;
}

/* The port is named before that of the results, which comes after it on QEMU's
 * command line: nothing to wait for. */
const char *system_marks_port(void)
{
	static char device[PATH_BYTES];

	return find_port(MARKS_NAME, device) ? device : NULL;
}

void system_seed(const unsigned char seed[SEED_BYTES])
{
	struct {
		int bits, bytes;	/* struct rand_pool_info */
		unsigned char pool[SEED_BYTES];
	} entropy = { .bits = 8 * SEED_BYTES, .bytes = SEED_BYTES };
	int fd = open("/dev/urandom", O_RDWR | O_CLOEXEC);

	memcpy(entropy.pool, seed, SEED_BYTES);
	if (fd < 0 || ioctl(fd, RNDADDENTROPY, &entropy) < 0 || ioctl(fd, RNDRESEEDCRNG) < 0)
		fatal("cannot seed the random pool: %s", strerror(errno));
	close(fd);
}

static void write_setting(const char *path, const char *value)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, value, strlen(value)) < 0)
		fatal("cannot set %s to %s: %s", path, value, strerror(errno));
	close(fd);
}

void system_raise_limits(void)
{
	const struct rlimit limit = { MAX_DESCRIPTORS, MAX_DESCRIPTORS };

	write_setting("/proc/sys/fs/nr_open", TEXT(MAX_DESCRIPTORS));
	write_setting("/proc/sys/fs/file-max", MAX_FILES);
	if (setrlimit(RLIMIT_NOFILE, &limit) < 0)
		fatal("cannot raise RLIMIT_NOFILE: %s", strerror(errno));
}

void system_die_with_parent(void)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
}

_Noreturn void system_power_off(void)
{
	sync();
	reboot(RB_POWER_OFF);
	for (;;)	/* a kernel that can't: the host ends the guest at the last frame */
		pause();
}
