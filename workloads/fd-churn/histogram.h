/*
 * A histogram of durations with bounded memory and bounded relative error.
 *
 * Log-linear, as in HdrHistogram: each octave is cut into SUB_BUCKETS of equal
 * width, and values below SUB_BUCKETS stand alone. A percentile is off by less
 * than the width of its bucket, 1/256 of its value; inside the bucket it is
 * interpolated, so that a small shift shows. Count and maximum are exact.
 */
#ifndef KTRIAL_HISTOGRAM_H
#define KTRIAL_HISTOGRAM_H

#include <stdint.h>
#include <string.h>

enum {
	SUB_BITS = 8,
	SUB_BUCKETS = 1 << SUB_BITS,
	VALUE_BITS = 40,	/* 2^40 ns are 18 minutes; longer is counted as that */
	BUCKETS = (VALUE_BITS - SUB_BITS + 1) * SUB_BUCKETS,
};

struct histogram {
	uint64_t count;
	uint64_t max;
	uint64_t buckets[BUCKETS];
};

static inline void histogram_clear(struct histogram *h)
{
	memset(h, 0, sizeof(*h));
}

/* Octave o >= 1 holds values from 2^(SUB_BITS + o - 1), in steps of 2^(o - 1). */
static inline unsigned histogram_bucket(uint64_t value)
{
	unsigned octave = 0;

	if (value >> VALUE_BITS)
		return BUCKETS - 1;
	if (value >= SUB_BUCKETS)
		octave = 64 - (unsigned)__builtin_clzll(value) - SUB_BITS;
	if (octave == 0)
		return (unsigned)value;
	return octave * SUB_BUCKETS + (unsigned)(value >> (octave - 1)) - SUB_BUCKETS;
}

static inline uint64_t histogram_low(unsigned bucket)
{
	unsigned octave = bucket / SUB_BUCKETS;

	if (octave == 0)
		return bucket;
	return (uint64_t)(SUB_BUCKETS + bucket % SUB_BUCKETS) << (octave - 1);
}

static inline void histogram_add(struct histogram *h, uint64_t value)
{
	h->count++;
	h->buckets[histogram_bucket(value)]++;
	if (value > h->max)
		h->max = value;
}

static inline void histogram_merge(struct histogram *into, const struct histogram *from)
{
	into->count += from->count;
	if (from->max > into->max)
		into->max = from->max;
	for (unsigned i = 0; i < BUCKETS; i++)
		into->buckets[i] += from->buckets[i];
}

/* The value that `thousandths` of all values do not exceed (nearest rank): 500
 * is the median, 1000 the maximum. 0 when nothing was counted. */
static inline uint64_t histogram_quantile(const struct histogram *h, unsigned thousandths)
{
	uint64_t rank = (h->count * thousandths + 999) / 1000, before = 0;

	if (rank == 0)
		rank = 1;
	if (rank >= h->count)
		return h->max;
	for (unsigned i = 0; i < BUCKETS; i++) {
		uint64_t here = h->buckets[i];

		if (before + here >= rank) {
			uint64_t low = histogram_low(i), width = histogram_low(i + 1) - low;
			double part = ((double)(rank - before) - 0.5) / (double)here;
			uint64_t value = low + (uint64_t)((double)width * part);

			return value < h->max ? value : h->max;
		}
		before += here;
	}
	return h->max;
}

#endif
