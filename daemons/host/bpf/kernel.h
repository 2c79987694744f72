/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The kernel's types and helpers, as far as they are used. The loader moves every access to where the running kernel
 * has the member: order and completeness mean nothing here, names do. */
#pragma once

typedef unsigned char u8;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef long long s64;
typedef _Bool bool;

#define SEC(name) __attribute__((section(name), used))
#define ALWAYS_INLINE inline __attribute__((always_inline))
#define KERNEL_FUNCTION __attribute__((section(".ksyms")))

#define SOL_TCP 6
#define TCP_CONGESTION 13
#define TCP_CONG_NON_RESTRICTED 1

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct list_head {
	struct list_head *next;
};

struct sock {
};

struct inet_connection_sock {
	const struct tcp_congestion_ops *icsk_ca_ops;
	void *icsk_ulp_data;
	u64 icsk_ca_priv[13];
};

struct tcp_sock {
	struct inet_connection_sock inet_conn;
	u32 snd_cwnd;
	u32 snd_cwnd_clamp;
	u32 snd_ssthresh;
	u32 max_packets_out;
	u32 srtt_us;
	u32 delivered;
	u8 is_cwnd_limited : 1;
	bool is_mptcp;
};

struct mptcp_subflow_context {
	struct list_head node;
	struct sock *tcp_sock;
	struct sock *conn;
};

struct mptcp_sock {
	struct list_head conn_list;
};

#pragma clang attribute pop

/* What a congestion control gives the kernel; matched by name, too. */
struct tcp_congestion_ops {
	u32 (*ssthresh)(struct sock *sk);
	void (*cong_avoid)(struct sock *sk, u32 ack, u32 acked);
	u32 (*undo_cwnd)(struct sock *sk);
	void (*init)(struct sock *sk);
	u32 flags;
	char name[16];
};

static long (*bpf_setsockopt)(void *sk, int level, int name, void *value, int length) = (void *)49;

extern u32 tcp_slow_start(struct tcp_sock *tp, u32 acked) KERNEL_FUNCTION;
extern u32 tcp_reno_undo_cwnd(struct sock *sk) KERNEL_FUNCTION;
extern void *bpf_rdonly_cast(const void *object, u32 type) KERNEL_FUNCTION;

/* Reads through the result give zero where there is no memory, and never fail. */
#define READ_ONLY(pointer, type) \
	((type *)bpf_rdonly_cast(pointer, __builtin_btf_type_id(*(type *)0, 1)))

/* Reads a member that is narrower than a byte: the loader knows where its bits are in the running kernel. */
#define BYTE_OFFSET 0
#define SHIFT_LEFT 4
#define SHIFT_RIGHT 5
#define BIT_OF(pointer, member)                                                                              \
	(((u64) * ((const u8 *)(pointer) + __builtin_preserve_field_info((pointer)->member, BYTE_OFFSET))    \
	  << __builtin_preserve_field_info((pointer)->member, SHIFT_LEFT)) >>                                \
	 __builtin_preserve_field_info((pointer)->member, SHIFT_RIGHT))
