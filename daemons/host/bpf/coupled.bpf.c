/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* LIA, OLIA and BALIA as TCP congestion controls of the kernel.
 *
 * The subflows of an MPTCP connection share nothing but the kernel's own list of them, which is read as it is, without
 * its lock. A subflow that leaves meanwhile is a figure that is out of date for one acknowledgement: contexts of
 * subflows outlive the programs that see them (RCU), sockets stay sockets, and the formulas hold any input in bounds.
 * So there is no table to fill up, and nothing to clean up when a connection ends or the loader dies. */

#include "formulas.h"

char LICENSE[] SEC("license") = "Dual MIT/GPL";

/* What plain TCP gets instead: a name, or empty if it shall have the coupled control, which then is Reno. */
const volatile char fallback[16] = {};

/* What a subflow remembers, in the room that the kernel keeps for its congestion control. */
struct memory {
	u32 left_over; /* of increases, less than a segment */
	u32 loss_at;   /* `delivered` at the last loss */
	u32 last_run;  /* delivered between the last two losses */
};

static ALWAYS_INLINE struct memory *memory(struct tcp_sock *tp)
{
	return (struct memory *)tp->inet_conn.icsk_ca_priv;
}

static ALWAYS_INLINE void describe(struct subflow *it, struct tcp_sock *tp)
{
	const struct memory *seen = memory(tp);
	it->cwnd = tp->snd_cwnd;
	it->srtt_us = tp->srtt_us >> 3;
	it->run = most(seen->last_run, tp->delivered - seen->loss_at);
}

/* Others have the own congestion control and have heard from their peer. */
static ALWAYS_INLINE void describe_others(struct connection *connection, struct tcp_sock *own)
{
	struct mptcp_subflow_context *context, *other;
	struct list_head *node;
	struct mptcp_sock *msk;
	struct tcp_sock *tp;

	context = READ_ONLY(own->inet_conn.icsk_ulp_data, struct mptcp_subflow_context);
	msk = READ_ONLY(context->conn, struct mptcp_sock);
	node = msk->conn_list.next;
	for (u32 place = 1; place < MAX_SUBFLOWS; place++) {
		/* The list is a ring through the connection itself. */
		if (!node || node == &msk->conn_list)
			break;
		/* `node` is the first member of a context. */
		other = READ_ONLY(node, struct mptcp_subflow_context);
		tp = READ_ONLY(other->tcp_sock, struct tcp_sock);
		node = other->node.next;
		if (tp == own || tp->inet_conn.icsk_ca_ops != own->inet_conn.icsk_ca_ops)
			continue;
		/* It left, and its socket is another connection's by now. */
		if (tp->inet_conn.icsk_ulp_data != other)
			continue;
		describe(&connection->subflows[place], tp);
	}
}

static ALWAYS_INLINE void read_connection(struct connection *connection, struct tcp_sock *tp)
{
	describe(&connection->subflows[0], tp);
	if (tp->is_mptcp)
		describe_others(connection, tp);
}

/* As tcp_is_cwnd_limited(): a window that is not used does not grow. */
static ALWAYS_INLINE bool is_window_used(const struct tcp_sock *tp)
{
	if (BIT_OF(tp, is_cwnd_limited))
		return 1;
	return tp->snd_cwnd < tp->snd_ssthresh && tp->snd_cwnd < 2 * tp->max_packets_out;
}

CHECKED_BY_ITSELF s64 increase_of(const struct connection *connection, u32 algorithm)
{
	return connection ? increase(connection, algorithm) : 0;
}

CHECKED_BY_ITSELF u32 window_after_loss(const struct connection *connection, u32 algorithm)
{
	return connection ? after_loss(connection, algorithm) : 2;
}

static ALWAYS_INLINE void grow(struct tcp_sock *tp, s64 increase, u32 acked)
{
	struct memory *own = memory(tp);
	s64 sum = own->left_over + increase * (s64)least(acked, MAX_WINDOW);
	s64 grown = (s64)tp->snd_cwnd + (sum >> 32);

	own->left_over = (u32)sum;
	if (grown < 2)
		grown = 2;
	tp->snd_cwnd = least(grown, tp->snd_cwnd_clamp);
}

static ALWAYS_INLINE void avoid(struct tcp_sock *tp, u32 acked, enum algorithm algorithm)
{
	struct connection connection = {};

	if (!is_window_used(tp))
		return;
	if (tp->snd_cwnd < tp->snd_ssthresh) {
		acked = tcp_slow_start(tp, acked);
		if (!acked)
			return;
	}
	read_connection(&connection, tp);
	grow(tp, increase_of(&connection, algorithm), acked);
}

static ALWAYS_INLINE u32 lose(struct tcp_sock *tp, enum algorithm algorithm)
{
	struct connection connection = {};
	struct memory *own = memory(tp);

	read_connection(&connection, tp);
	own->last_run = tp->delivered - own->loss_at;
	own->loss_at = tp->delivered;
	return window_after_loss(&connection, algorithm);
}

SEC("struct_ops")
int coupled_init(u64 *arguments)
{
	struct tcp_sock *tp = (struct tcp_sock *)arguments[0];

	if (fallback[0] && !tp->is_mptcp)
		bpf_setsockopt(tp, SOL_TCP, TCP_CONGESTION, (void *)fallback, sizeof(fallback));
	else
		memory(tp)->loss_at = tp->delivered;
	return 0;
}

SEC("struct_ops")
u32 coupled_undo_cwnd(u64 *arguments)
{
	return tcp_reno_undo_cwnd((struct sock *)arguments[0]);
}

#define CONGESTION_CONTROL(lower, UPPER)                                                 \
	SEC("struct_ops")                                                                \
	int lower##_cong_avoid(u64 *arguments)                                           \
	{                                                                                \
		avoid((struct tcp_sock *)arguments[0], (u32)arguments[2], UPPER);        \
		return 0;                                                                \
	}                                                                                \
                                                                                         \
	SEC("struct_ops")                                                                \
	u32 lower##_ssthresh(u64 *arguments)                                             \
	{                                                                                \
		return lose((struct tcp_sock *)arguments[0], UPPER);                     \
	}                                                                                \
                                                                                         \
	SEC(".struct_ops.link")                                                          \
	struct tcp_congestion_ops braid_##lower = {                                      \
		.init = (void *)coupled_init,                                            \
		.ssthresh = (void *)lower##_ssthresh,                                    \
		.cong_avoid = (void *)lower##_cong_avoid,                                \
		.undo_cwnd = (void *)coupled_undo_cwnd,                                  \
		.flags = TCP_CONG_NON_RESTRICTED,                                        \
		.name = "braid_" #lower,                                                 \
	}

CONGESTION_CONTROL(uncoupled, UNCOUPLED);
CONGESTION_CONTROL(lia, LIA);
CONGESTION_CONTROL(olia, OLIA);
CONGESTION_CONTROL(balia, BALIA);

/* Answers what the formulas give, for the test that compares them with their twin in Rust. */
struct question {
	struct connection connection;
	u32 algorithm;
	s64 increase;
	u32 after_loss;
};

SEC("syscall")
int compute(struct question *it)
{
	struct connection connection = it->connection;

	it->increase = increase_of(&connection, it->algorithm);
	it->after_loss = window_after_loss(&connection, it->algorithm);
	return 0;
}
