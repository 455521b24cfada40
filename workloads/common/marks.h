/*
 * Marks for one who counts this guest's instructions from outside (counter/):
 * instructions that do nothing, with a number in them. Nothing happens where
 * nobody counts. An agent marks where a job begins; a workload marks each of
 * its iterations, once in the whole program, whatever runs in between.
 */
#ifndef KTRIAL_MARKS_H
#define KTRIAL_MARKS_H

/* counter/src/marks.rs knows these bytes. */
#ifdef __x86_64__
#define MARK(number) __asm__ volatile("nopl 0x4b" number "544b(%%rax)" ::: "memory")
#else
#define MARK(number) __asm__ volatile("" ::: "memory")
#endif

static inline void mark_job(void) { MARK("01"); }
static inline void mark_begin(void) { MARK("02"); }
static inline void mark_end(void) { MARK("03"); }

#endif
