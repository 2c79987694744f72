/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Operation by operation what core/congestion/src/fixed.rs computes; reasons and sources are there. */
#pragma once

#include "kernel.h"

/* The own subflow, and the first 16 of its connection; those beyond take no part in the coupling of others. */
#define MAX_SUBFLOWS 17

#define ONE ((u64)1 << 14)
#define SEGMENT ((u64)1 << 32)
#define MAX_WINDOW (((u64)1 << 20) - 1)
#define MAX_MICROS (((u64)1 << 26) - 1)
#define MAX_RUN (((u64)1 << 22) - 1)
#define MAX_SHARE (ONE << 26)
#define MAX_ALPHA (ONE << 10)

enum algorithm { UNCOUPLED, LIA, OLIA, BALIA };

struct subflow {
	u32 cwnd;
	u32 srtt_us; /* 0: not measured yet */
	u32 run;
};

/* The own subflow is the first. Places that nobody takes are unmeasured, wherever they are. */
struct connection {
	struct subflow subflows[MAX_SUBFLOWS];
};

/* A function that the kernel's verifier checks by itself, once, and not again wherever it is called: the ways through
 * all of them together are too many. */
#define CHECKED_BY_ITSELF __attribute__((noinline))

static ALWAYS_INLINE u64 least(u64 a, u64 b)
{
	return a < b ? a : b;
}

static ALWAYS_INLINE u64 most(u64 a, u64 b)
{
	return a > b ? a : b;
}

CHECKED_BY_ITSELF u64 window_of(u32 cwnd)
{
	return most(1, least(cwnd, MAX_WINDOW));
}

CHECKED_BY_ITSELF u64 micros_of(u32 srtt_us)
{
	return most(1, least(srtt_us, MAX_MICROS));
}

CHECKED_BY_ITSELF u64 share_of(u64 window, u64 micros, u64 during_micros)
{
	return least(window * ONE * during_micros / micros, MAX_SHARE);
}

CHECKED_BY_ITSELF u64 quality_of(u32 run, u64 micros)
{
	u64 limited = least(run, MAX_RUN);
	return ((limited * limited) << 19) / micros;
}

static ALWAYS_INLINE u64 window(const struct subflow *it)
{
	return window_of(it->cwnd);
}

static ALWAYS_INLINE u64 micros(const struct subflow *it)
{
	return micros_of(it->srtt_us);
}

static ALWAYS_INLINE u64 share(const struct subflow *of, u64 during_micros)
{
	return share_of(window(of), micros(of), during_micros);
}

static ALWAYS_INLINE u64 quality(const struct subflow *it)
{
	return quality_of(it->run, micros(it));
}

/* Hides from the compiler that it counts, which it would turn into a pointer: the verifier knows the bounds of numbers
 * alone. */
static ALWAYS_INLINE u32 next(u32 place)
{
	place++;
	asm volatile("" : "+r"(place));
	return place;
}

#define FOR_MEASURED(it, connection)                                                          \
	for (u32 it##_at = 0; it##_at < MAX_SUBFLOWS; it##_at = next(it##_at))               \
		for (const struct subflow *it = &(connection)->subflows[it##_at]; it; it = 0) \
			if (it->srtt_us)

CHECKED_BY_ITSELF u64 total(const struct connection *connection, u64 during_micros)
{
	u64 sum = 0;
	if (!connection)
		return 0;
	FOR_MEASURED(it, connection)
		sum += share(it, during_micros);
	return sum;
}

static ALWAYS_INLINE u64 fraction(const struct subflow *it, u64 total)
{
	return (window(it) << 42) / total;
}

static ALWAYS_INLINE u64 linked(const struct connection *connection, const struct subflow *it)
{
	u64 all = total(connection, micros(it));
	return (fraction(it, all) << 18) / all;
}

static ALWAYS_INLINE u64 lia_increase(const struct connection *connection)
{
	u64 greatest = 0;
	FOR_MEASURED(it, connection)
		greatest = most(greatest, linked(connection, it));
	return least(greatest, SEGMENT / window(connection->subflows));
}

static ALWAYS_INLINE u64 balia_alpha(const struct connection *connection)
{
	const struct subflow *own = connection->subflows;
	u64 greatest = 0, during = micros(own);
	FOR_MEASURED(it, connection)
		greatest = most(greatest, share(it, during));
	return least(greatest / window(own), MAX_ALPHA);
}

static ALWAYS_INLINE u64 balia_increase(const struct connection *connection)
{
	const struct subflow *own = connection->subflows;
	u64 alpha = balia_alpha(connection);
	u64 all = total(connection, micros(own));
	u64 factor = (ONE + alpha) * (4 * ONE + alpha) / (10 * ONE);
	return ((fraction(own, all) * factor) << 4) / all;
}

static ALWAYS_INLINE s64 olia_shift(const struct connection *connection)
{
	const struct subflow *own = connection->subflows;
	u64 greatest = 0, best = 0, subflows = 0, collected = 0, with_most = 0;
	FOR_MEASURED(it, connection) {
		greatest = most(greatest, window(it));
		best = most(best, quality(it));
	}
	FOR_MEASURED(it, connection) {
		subflows++;
		with_most += window(it) == greatest;
		collected += quality(it) == best && window(it) < greatest;
	}
	if (!collected)
		return 0;
	if (quality(own) == best && window(own) < greatest)
		return SEGMENT / (subflows * collected * window(own));
	if (window(own) == greatest)
		return -(s64)(SEGMENT / (subflows * with_most * window(own)));
	return 0;
}

static ALWAYS_INLINE s64 increase(const struct connection *connection, enum algorithm algorithm)
{
	const struct subflow *own = connection->subflows;
	if (own->srtt_us) {
		if (algorithm == LIA)
			return lia_increase(connection);
		if (algorithm == OLIA)
			return linked(connection, own) + olia_shift(connection);
		if (algorithm == BALIA)
			return balia_increase(connection);
	}
	return SEGMENT / window(own);
}

static ALWAYS_INLINE u32 after_loss(const struct connection *connection, enum algorithm algorithm)
{
	const struct subflow *own = connection->subflows;
	u64 lost = (window(own) + 1) / 2;
	if (algorithm == BALIA && own->srtt_us)
		lost = (window(own) * least(balia_alpha(connection), ONE * 3 / 2)) >> 15;
	return most(window(own) - lost, 2);
}
