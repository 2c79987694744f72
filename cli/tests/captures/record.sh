#!/bin/sh
# Records what ovs-ofctl and a user-space Open vSwitch say to each other, and a controller to a switch.
#
# Run as root: `unshare --net ./record.sh BRAID`, where BRAID is the binary. It starts its own ovsdb-server and
# ovs-vswitchd in a temporary folder and writes openflow13.pcap and openflow10.pcap beside itself.
set -eu

braid=$1
here=$(cd "$(dirname "$0")" && pwd)
folder=$(mktemp -d)
export OVS_RUNDIR="$folder" OVS_LOGDIR="$folder" OVS_DBDIR="$folder"
db="--db=unix:$folder/db.sock"

stop() {
    for pidfile in "$folder"/*.pid; do kill "$(cat "$pidfile")" || true; done
    sleep 0.5
    rm -rf "$folder"
}
trap stop EXIT

# $1: file; the rest: what to do meanwhile
record() {
    file=$1
    shift
    rm -f "$folder/tcpdump.log"
    tcpdump -q -i lo -U --immediate-mode -w "$folder/capture" tcp port 6653 or tcp port 6633 2>"$folder/tcpdump.log" &
    echo $! >"$folder/tcpdump.pid"
    until grep -qs listening "$folder/tcpdump.log"; do sleep 0.1; done
    "$@"
    sleep 0.5
    kill "$(cat "$folder/tcpdump.pid")"
    wait
    rm "$folder/tcpdump.pid"
    cp "$folder/capture" "$here/$file"
}

talk() {
    version=$1
    for request in probe show dump-desc dump-ports dump-ports-desc dump-flows dump-aggregate; do
        ovs-ofctl --no-names -O "$version" "$request" tcp:127.0.0.1:6653 >/dev/null
    done
    printf 'table=0,priority=%d,tcp,in_port=1,nw_dst=10.0.0.0/24,tp_dst=%d,actions=output:2\n' \
        1 80 2 443 3 5001 4 5201 >"$folder/flows"
    ovs-ofctl --no-names -O "$version" add-flows tcp:127.0.0.1:6653 "$folder/flows"
    ovs-ofctl --no-names -O "$version" mod-flows tcp:127.0.0.1:6653 tcp,actions=drop
    ovs-ofctl --no-names -O "$version" dump-flows tcp:127.0.0.1:6653 >/dev/null
    ovs-ofctl --no-names -O "$version" del-flows tcp:127.0.0.1:6653
}

talk13() {
    talk OpenFlow13
    bridge="tcp:127.0.0.1:6653"
    ovs-ofctl --no-names -O OpenFlow13 add-group "$bridge" group_id=7,type=select,bucket=weight:3,output:1,bucket=weight:1,output:2
    ovs-ofctl --no-names -O OpenFlow13 add-meter "$bridge" meter=1,kbps,band=type=drop,rate=1000
    ovs-ofctl --no-names -O OpenFlow13 dump-groups "$bridge" >/dev/null
    ovs-ofctl --no-names -O OpenFlow13 dump-group-stats "$bridge" >/dev/null
    ovs-ofctl --no-names -O OpenFlow13 packet-out "$bridge" 'in_port=controller packet=0200000000020200000000010800 actions=output:1'
    # A switch under a controller: discovery, packet-ins, rules, and a port that goes down and comes up.
    "$braid" controller run --openflow 127.0.0.1:6633 --http 127.0.0.1:0 >/dev/null 2>&1 &
    echo $! >"$folder/braid.pid"
    sleep 0.3
    ovs-vsctl $db set-controller br0 tcp:127.0.0.1:6633 -- set controller br0 max_backoff=1000
    sleep 2
    ip link set s1 down
    ip link set s1 up
    sleep 1
    kill "$(cat "$folder/braid.pid")"
    rm "$folder/braid.pid"
}

ip link set lo up
sysctl -qw net.ipv6.conf.default.disable_ipv6=1
for number in 1 2; do
    ip link add s$number type veth peer name h$number
    ip link set s$number up
    ip link set h$number up
done
ovsdb-tool create "$folder/conf.db" /usr/share/openvswitch/vswitch.ovsschema
ovsdb-server "$folder/conf.db" --remote="punix:$folder/db.sock" --detach --pidfile --log-file
ovs-vswitchd "unix:$folder/db.sock" --detach --pidfile --log-file
ovs-vsctl $db add-br br0 -- set bridge br0 datapath_type=netdev protocols=OpenFlow10,OpenFlow13 \
    -- set-controller br0 ptcp:6653:127.0.0.1 \
    -- add-port br0 s1 -- set interface s1 ofport_request=1 \
    -- add-port br0 s2 -- set interface s2 ofport_request=2
sleep 1
record openflow13.pcap talk13
ovs-vsctl $db set-controller br0 ptcp:6653:127.0.0.1
sleep 1
record openflow10.pcap talk OpenFlow10
