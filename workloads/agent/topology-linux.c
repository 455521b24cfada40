/* How processors and memory lie, from sysfs. */
#include "sysfs.h"
#include "system.h"

#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CPUS "/sys/devices/system/cpu"
#define NODES "/sys/devices/system/node"
#define VALUE_BYTES 4096
#define MOST_NODES 256

/* The numbers of the entries <stem><number> of a folder, ascending; at most `most`. */
static int numbered(const char *folder, const char *stem, int *numbers, int most)
{
	DIR *entries = opendir(folder);
	size_t length = strlen(stem);
	struct dirent *entry;
	int count = 0;

	while (entries && count < most && (entry = readdir(entries)) != NULL) {
		const char *digits = entry->d_name + length;
		int at;

		if (strncmp(entry->d_name, stem, length) || !isdigit((unsigned char)*digits))
			continue;
		for (at = count++; at > 0 && numbers[at - 1] > atoi(digits); at--)
			numbers[at] = numbers[at - 1];
		numbers[at] = atoi(digits);
	}
	if (entries)
		closedir(entries);
	return count;
}

/* A value of a processor's topology, or "-". */
static const char *topology(int cpu, const char *name, char text[32])
{
	char path[sizeof(CPUS) + 64];

	snprintf(path, sizeof(path), CPUS "/cpu%d/topology/%s", cpu, name);
	return sysfs_read(path, text, 32) && text[0] ? text : "-";
}

static void say_cpu(struct channel *channel, int cpu, const int *nodes, int node_count)
{
	char package[32], die[32], core[32], node[32] = "-", path[sizeof(NODES) + 64];

	for (int i = 0; i < node_count; i++) {
		snprintf(path, sizeof(path), NODES "/node%d/cpu%d", nodes[i], cpu);
		if (access(path, F_OK) == 0)
			snprintf(node, sizeof(node), "%d", nodes[i]);
	}
	frame(channel, "cpu", "%d %s %s %s %s", cpu,
	      topology(cpu, "physical_package_id", package), topology(cpu, "die_id", die),
	      topology(cpu, "core_id", core), node);
}

/* In the line "Node 0 MemTotal:  1022468 kB", which is not the first everywhere. */
static unsigned long long node_mib(int node)
{
	char path[sizeof(NODES) + 64], line[256];
	unsigned long long kib = 0;
	FILE *file;

	snprintf(path, sizeof(path), NODES "/node%d/meminfo", node);
	file = fopen(path, "re");
	while (file && !kib && fgets(line, sizeof(line), file))
		if (sscanf(line, "Node %*d MemTotal: %llu", &kib) != 1)
			kib = 0;
	if (file)
		fclose(file);
	return kib / 1024;
}

static void say_node(struct channel *channel, int node)
{
	char path[sizeof(NODES) + 64], distances[VALUE_BYTES];

	snprintf(path, sizeof(path), NODES "/node%d/distance", node);
	if (!sysfs_read(path, distances, sizeof(distances)) || !distances[0])
		return;
	for (char *blank = distances; (blank = strchr(blank, ' ')) != NULL;)
		*blank = ',';
	frame(channel, "node", "%d %llu %s", node, node_mib(node), distances);
}

void system_say_topology(struct channel *channel)
{
	static int cpus[4096];
	int nodes[MOST_NODES];
	int node_count = numbered(NODES, "node", nodes, MOST_NODES);
	int cpu_count = numbered(CPUS, "cpu", cpus, (int)(sizeof(cpus) / sizeof(cpus[0])));

	for (int i = 0; i < cpu_count; i++) {
		char online[8], path[sizeof(CPUS) + 32];

		/* The first processor of many systems can't go, and has no such file. */
		snprintf(path, sizeof(path), CPUS "/cpu%d/online", cpus[i]);
		if (!sysfs_read(path, online, sizeof(online)) || online[0] != '0')
			say_cpu(channel, cpus[i], nodes, node_count);
	}
	for (int i = 0; i < node_count; i++)
		say_node(channel, nodes[i]);
}
