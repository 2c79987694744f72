"""A learning switch for os-ken, as its tutorial describes one: what an application of a few lines does with a packet.

It learns the port of each source address. A packet to a known address gets a rule, by both addresses, and is sent on; one to
an unknown address goes to all ports.
"""

from os_ken.base import app_manager
from os_ken.controller import ofp_event
from os_ken.controller.handler import CONFIG_DISPATCHER, MAIN_DISPATCHER, set_ev_cls
from os_ken.lib.packet import ethernet, packet
from os_ken.ofproto import ofproto_v1_3


class LearningSwitch(app_manager.OSKenApp):
    OFP_VERSIONS = [ofproto_v1_3.OFP_VERSION]

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.ports = {}

    @set_ev_cls(ofp_event.EventOFPSwitchFeatures, CONFIG_DISPATCHER)
    def on_features(self, event):
        path = event.msg.datapath
        to_controller = path.ofproto_parser.OFPActionOutput(path.ofproto.OFPP_CONTROLLER, path.ofproto.OFPCML_NO_BUFFER)
        self.add_rule(path, 0, path.ofproto_parser.OFPMatch(), to_controller)

    @set_ev_cls(ofp_event.EventOFPPacketIn, MAIN_DISPATCHER)
    def on_packet(self, event):
        message = event.msg
        path, port = message.datapath, message.match["in_port"]
        parser = path.ofproto_parser
        frame = packet.Packet(message.data).get_protocol(ethernet.ethernet)
        known = self.ports.setdefault(path.id, {})
        known[frame.src] = port
        action = parser.OFPActionOutput(known.get(frame.dst, path.ofproto.OFPP_FLOOD))
        if frame.dst in known:
            self.add_rule(path, 1, parser.OFPMatch(in_port=port, eth_src=frame.src, eth_dst=frame.dst), action)
        path.send_msg(
            parser.OFPPacketOut(
                datapath=path,
                buffer_id=path.ofproto.OFP_NO_BUFFER,
                in_port=port,
                actions=[action],
                data=message.data,
            )
        )

    @staticmethod
    def add_rule(path, priority, match, action):
        parser = path.ofproto_parser
        apply = parser.OFPInstructionActions(path.ofproto.OFPIT_APPLY_ACTIONS, [action])
        path.send_msg(parser.OFPFlowMod(datapath=path, priority=priority, match=match, instructions=[apply]))
