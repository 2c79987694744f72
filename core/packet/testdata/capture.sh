#!/bin/sh
# Records the captures of this folder anew, with the kernel and the tools of this machine. Needs root.
# Everything happens in two network namespaces of its own, joined by two links.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
client=braid-capture-client
server=braid-capture-server

in_client() { ip netns exec "$client" "$@"; }
in_server() { ip netns exec "$server" "$@"; }

# Every process that was started here is in one of the two namespaces.
clean_up() {
    for pid in $(ip netns pids "$client" 2>/dev/null) $(ip netns pids "$server" 2>/dev/null); do
        kill "$pid" 2>/dev/null || true
    done
    ip netns del "$client" 2>/dev/null || true
    ip netns del "$server" 2>/dev/null || true
    rm -rf "$work"
}
trap clean_up EXIT

add_links() {
    ip netns add "$client"
    ip netns add "$server"
    for link in 0 1; do
        ip -n "$client" link add "eth$link" address "02:00:00:00:0$link:01" type veth \
            peer name "eth$link" netns "$server" address "02:00:00:00:0$link:02"
        for host in "$client" "$server"; do
            [ "$host" = "$client" ] && number=1 || number=2
            ip -n "$host" link set "eth$link" up
            ip -n "$host" address add "10.0.$link.$number/24" dev "eth$link"
            ip -n "$host" address add "fd00:$link::$number/64" dev "eth$link"
        done
    done
    ip -n "$client" link set lo up
    ip -n "$server" link set lo up
}

# What the controller sees of a packet: the first 128 bytes.
record() { # name filter
    for link in 0 1; do
        in_client tcpdump -q -U -s 128 -i "eth$link" -w "$work/$1.$link" "$2" 2>/dev/null &
    done
    sleep 1
}

# Merges both links by time and keeps what the filter selects, as plain pcap.
keep() { # name display-filter
    sleep 1
    for pid in $(ip netns pids "$client"); do
        grep -q tcpdump "/proc/$pid/comm" && kill -INT "$pid"
    done
    sleep 1
    mergecap -F pcap -w "$work/$1.all" "$work/$1.0" "$work/$1.1"
    tshark -r "$work/$1.all" -Y "$2" -F pcap -w "$here/$1.pcap" 2>/dev/null
}

record_neighbours() {
    record neighbours "arp or icmp6"
    ip -n "$client" address add fd00:0::77/64 dev eth0    # asks whether the address is taken
    sleep 2
    for address in 10.0.0.2 fd00:0::2; do
        in_client bash -c "echo > /dev/udp/$address/9"    # the kernel asks where the address is
    done
    sleep 1
    keep neighbours "arp or icmpv6.type in {135, 136}"
    ip -n "$client" address delete fd00:0::77/64 dev eth0
}

# Open vSwitch announces itself; it lives in the server's namespace for as long as that takes.
record_foreign_lldp() {
    export OVS_RUNDIR="$work" OVS_LOGDIR="$work" OVS_DBDIR="$work"
    ovsdb-tool create "$work/conf.db" /usr/share/openvswitch/vswitch.ovsschema
    in_server ovsdb-server --remote="punix:$work/db.sock" --no-chdir --pidfile --detach --log-file "$work/conf.db" \
        2>/dev/null
    ovs-vsctl --no-wait init
    in_server ovs-vswitchd --no-chdir --pidfile --detach --log-file "unix:$work/db.sock" 2>/dev/null
    record lldp-openvswitch "ether proto 0x88cc"
    ovs-vsctl add-br braid-foreign -- set bridge braid-foreign datapath_type=netdev \
        -- add-port braid-foreign eth1 -- set interface eth1 lldp:enable=true
    sleep 12    # it speaks every five seconds
    keep lldp-openvswitch "lldp"
    ovs-vsctl del-br braid-foreign
    ovs-appctl -t ovs-vswitchd exit
    ovs-appctl -t ovsdb-server exit
}

limit() {
    for host in "$client" "$server"; do
        ip -n "$host" mptcp endpoint flush
        ip -n "$host" mptcp limits set subflow 8 add_addr_accepted 8
    done
}

# The subflows of one short transfer, without most of its data.
record_transfer() { # name server-address
    record "$1" "tcp port 5201"
    in_server mptcpize run iperf3 -s -1 >/dev/null &
    sleep 1
    in_client mptcpize run iperf3 -c "$2" -n 30K >/dev/null
    keep "$1" "tcp.flags.syn == 1 or tcp.options.mptcp.subtype != 2 or tcp.options.mptcp.datafin.flag == 1"
}

# Full mesh: the client opens every pair of addresses that both announce. Then one path alone.
record_paths() {
    limit
    ip -n "$client" mptcp endpoint add 10.0.1.1 dev eth1 subflow fullmesh
    ip -n "$server" mptcp endpoint add 10.0.1.2 dev eth1 signal
    record_transfer mptcp-v4-fullmesh 10.0.0.2
    limit
    ip -n "$client" mptcp endpoint add fd00:1::1 dev eth1 subflow fullmesh
    ip -n "$server" mptcp endpoint add fd00:1::2 dev eth1 signal
    record_transfer mptcp-v6-fullmesh fd00:0::2
    limit
    record_transfer mptcp-v6-single fd00:0::2
}

# Checksums, then also a second subflow for backup and no joins to the server's first address.
record_flags() {
    limit
    in_client sysctl -q net.mptcp.checksum_enabled=1
    in_server sysctl -q net.mptcp.checksum_enabled=1
    record_transfer mptcp-v4-checksum 10.0.0.2
    in_server sysctl -q net.mptcp.allow_join_initial_addr_port=0
    ip -n "$client" mptcp endpoint add 10.0.1.1 dev eth1 subflow backup
    ip -n "$server" mptcp endpoint add 10.0.1.2 dev eth1 signal
    record_transfer mptcp-v4-flags 10.0.0.2
}

add_links
sleep 2
record_neighbours
record_paths
record_flags
record_foreign_lldp
