/*
 * Linux: what perf_event_open(2) takes and gives, as far as it is used here. The
 * static C library of the guest brings no kernel headers; names and numbers are
 * those of include/uapi/linux/perf_event.h.
 */
#ifndef KTRIAL_PERF_LINUX_H
#define KTRIAL_PERF_LINUX_H

#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum perf_type {
	PERF_TYPE_HARDWARE = 0,
	PERF_TYPE_SOFTWARE = 1,
	PERF_TYPE_TRACEPOINT = 2,
	PERF_TYPE_HW_CACHE = 3,
};

enum perf_hardware {
	PERF_COUNT_HW_CPU_CYCLES = 0,
	PERF_COUNT_HW_INSTRUCTIONS = 1,
	PERF_COUNT_HW_CACHE_REFERENCES = 2,
	PERF_COUNT_HW_CACHE_MISSES = 3,
	PERF_COUNT_HW_BRANCH_INSTRUCTIONS = 4,
	PERF_COUNT_HW_BRANCH_MISSES = 5,
};

enum perf_software {
	PERF_COUNT_SW_CPU_CLOCK = 0,
	PERF_COUNT_SW_CPU_MIGRATIONS = 4,
};

/* Misses of loads; of PERF_TYPE_HW_CACHE. */
enum perf_cache {
	PERF_COUNT_HW_CACHE_DTLB_MISSES = 3 | 0 << 8 | 1 << 16,
	PERF_COUNT_HW_CACHE_ITLB_MISSES = 4 | 0 << 8 | 1 << 16,
};

/* The version of 96 bytes: Linux 4.1 and later. */
struct perf_event_attr {
	uint32_t type, size;
	uint64_t config, sample_period, sample_type, read_format, flags;
	uint32_t wakeup_watermark, bp_type;
	uint64_t config1, config2, branch_sample_type, sample_regs_user;
	uint32_t sample_stack_user;
	int32_t clockid;
};

enum perf_flag {
	PERF_DISABLED = 1 << 0,
	PERF_EXCLUDE_IDLE = 1 << 7,
	PERF_WATERMARK = 1 << 14,
	PERF_EXCLUDE_CALLCHAIN_USER = 1 << 22,
	PERF_USE_CLOCKID = 1 << 25,
};

enum perf_sample_type {
	PERF_SAMPLE_IP = 1 << 0,
	PERF_SAMPLE_TID = 1 << 1,
	PERF_SAMPLE_TIME = 1 << 2,
	PERF_SAMPLE_CALLCHAIN = 1 << 5,
	PERF_SAMPLE_RAW = 1 << 10,
};

enum perf_format {
	PERF_FORMAT_TOTAL_TIME_ENABLED = 1 << 0,
	PERF_FORMAT_TOTAL_TIME_RUNNING = 1 << 1,
};

enum perf_record { PERF_RECORD_LOST = 2, PERF_RECORD_SAMPLE = 9 };
enum perf_misc { PERF_RECORD_MISC_CPUMODE_MASK = 7, PERF_RECORD_MISC_USER = 2 };

struct perf_event_header {
	uint32_t type;
	uint16_t misc, size;
};

/* Chains hold words that are no addresses: those above this one. */
#define PERF_CONTEXT_MAX UINT64_C(0xfffffffffffff001)

/* The first page of an event's memory. */
struct perf_event_mmap_page {
	unsigned char other[1024];
	uint64_t data_head, data_tail, data_offset, data_size;
};

#define PERF_EVENT_IOC_ENABLE _IO('$', 0)
#define PERF_EVENT_IOC_DISABLE _IO('$', 1)
#define PERF_FLAG_FD_CLOEXEC 8UL

/* All that runs on one processor. Returns a descriptor, or -1. */
static inline int perf_event_open(const struct perf_event_attr *attr, int processor,
				  unsigned long flags)
{
	return (int)syscall(SYS_perf_event_open, attr, -1, processor, -1, flags);
}

#endif
