//! Misbehaving switches: each is disconnected with an error, and the others are served.

use std::io::{Read, Write};
use std::net::Shutdown;
use std::thread;
use std::time::{Duration, Instant};

use braid_controller::{Config, Controller, ControllerError, SwitchAccess};
use braid_openflow::{Bytes, Echo, Hello, Message, Xid};

use crate::support::{Running, Switch, config, features};

#[test]
fn a_switch_of_openflow_1_0_is_told_so_and_cut_off() {
    let controller = Running::start(None);
    let mut good = Switch::join(controller.openflow, 1);
    let mut old = Switch::connect(controller.openflow);
    old.stream.write_all(&[1, 0, 0, 8, 0, 0, 0, 1]).expect("open channel");
    let error = old.last_error().expect("an error message");
    assert!(error.contains("Incompatible"), "{error}");
    assert!(good.is_served());
}

#[test]
fn rubbish_closes_the_channel_and_no_other() {
    let controller = Running::start(None);
    let mut good = Switch::join(controller.openflow, 1);
    for rubbish in
        [&b"GET / HTTP/1.1\r\n\r\n"[..], &[4, 0, 0, 3, 0, 0, 0, 0], &[0xff; 64], &[4, 10, 0, 8, 0, 0, 0, 0]]
    {
        let mut bad = Switch::connect(controller.openflow);
        bad.stream.write_all(rubbish).expect("open channel");
        bad.last_error();
    }
    assert!(good.is_served());
    controller.wait_for_switches(1);
}

#[test]
fn a_malformed_message_after_the_handshake_is_answered_with_an_error() {
    let controller = Running::start(None);
    let mut switch = Switch::join(controller.openflow, 1);
    // A packet-in whose match claims more than there is.
    let mut message = [0_u8; 32];
    message[..4].copy_from_slice(&[4, 10, 0, 32]);
    message[24..28].copy_from_slice(&[0, 1, 0xff, 0xff]);
    switch.stream.write_all(&message).expect("open channel");
    assert!(switch.last_error().is_some());
    controller.wait_for_switches(0);
}

#[test]
fn a_switch_that_stops_in_mid_message_disturbs_nobody() {
    let controller = Running::start(None);
    let mut good = Switch::join(controller.openflow, 1);
    let mut bad = Switch::join(controller.openflow, 2);
    controller.wait_for_switches(2);
    bad.stream.write_all(&[4, 10, 0, 80, 0, 0]).expect("open channel");
    bad.stream.shutdown(Shutdown::Write).expect("open channel");
    controller.wait_for_switches(1);
    assert!(good.is_served());
}

#[test]
fn a_message_in_many_pieces_is_put_together() {
    let controller = Running::start(None);
    let mut switch = Switch::connect(controller.openflow);
    let mut hello = Vec::new();
    Message::Hello(Hello::V1_3).encode(Xid(0), &mut hello).expect("short message");
    for byte in hello {
        switch.stream.write_all(&[byte]).expect("open channel");
    }
    assert!(switch.is_served());
}

#[test]
fn the_second_switch_with_a_datapath_id_is_turned_away() {
    let controller = Running::start(None);
    let mut first = Switch::join(controller.openflow, 7);
    controller.wait_for_switches(1);
    let mut second = Switch::connect(controller.openflow);
    second.send(&Message::Hello(Hello::V1_3));
    // Refused as soon as it claims the datapath id.
    second.send(&Message::FeaturesReply(features(7)));
    assert!(second.last_error().is_none());
    assert!(first.is_served());
    controller.wait_for_switches(1);
    let alarm = &controller.list("alarms")[0];
    assert_eq!((&alarm["kind"], &alarm["peer"]), (&"duplicate_datapath_id".into(), &"127.0.0.1".into()));
    assert_eq!((&alarm["dpid"], &alarm["count"]), (&"0000000000000007".into(), &1.into()));
    assert_eq!(alarm.get("at"), None);
}

#[test]
fn refused_connections_raise_one_alarm_about_their_address() {
    let controller = Running::start(None);
    for _ in 0..20 {
        let mut bad = Switch::connect(controller.openflow);
        bad.stream.write_all(&[0xff; 64]).expect("open channel");
        bad.last_error();
    }
    let alarms = controller.list("alarms");
    assert_eq!(alarms.len(), 1, "{alarms:?}");
    assert_eq!(alarms[0]["kind"], "refused_connection");
    assert_eq!(alarms[0]["count"], 20);
}

#[test]
fn only_listed_switches_join() {
    let any = std::net::SocketAddr::from(([127, 0, 0, 1], 0));
    let allowed = ["7", "8@10.0.0.0/8"].map(|text| text.parse().expect("a switch")).to_vec();
    let switch_access = SwitchAccess { allowed, ..SwitchAccess::default() };
    let controller = Running::start_with(Config { switch_access, ..config(any, any, None) });
    let mut listed = Switch::join(controller.openflow, 7);
    for dpid in [8, 9] {
        let mut other = Switch::connect(controller.openflow);
        other.send(&Message::Hello(Hello::V1_3));
        other.send(&Message::FeaturesReply(features(dpid)));
        // Refused before the rest of the handshake, which it does not answer.
        assert!(other.last_error().is_none());
    }
    assert!(listed.is_served());
    controller.wait_for_switches(1);
    let alarms = controller.list("alarms");
    assert_eq!((&alarms[0]["kind"], &alarms[0]["count"]), (&"refused_connection".into(), &2.into()));
}

#[test]
fn switches_of_other_machines_need_a_word_without_tls() {
    let bind = |trusted| {
        let away = std::net::SocketAddr::from(([0, 0, 0, 0], 0));
        let here = std::net::SocketAddr::from(([127, 0, 0, 1], 0));
        let switch_access = SwitchAccess { trusted, ..SwitchAccess::default() };
        Controller::bind(Config { switch_access, ..config(away, here, None) })
    };
    let error = bind(false).expect_err("open to everybody").to_string();
    assert!(error.contains("--openflow-trusted"), "{error}");
    assert!(bind(true).is_ok());
}

#[test]
fn connections_that_say_nothing_keep_no_switch_out() {
    let controller = Running::start(None);
    let silent: Vec<_> =
        (0..2_500).filter_map(|_| std::net::TcpStream::connect(controller.openflow).ok()).collect();
    let mut honest = Switch::join(controller.openflow, 1);
    controller.wait_for_switches(1);
    assert!(honest.is_served());
    drop(silent);
}

#[test]
fn a_switch_may_come_back_after_it_left() {
    let controller = Running::start(None);
    drop(Switch::join(controller.openflow, 7));
    controller.wait_for_switches(0);
    let mut again = Switch::join(controller.openflow, 7);
    controller.wait_for_switches(1);
    assert!(again.is_served());
}

#[test]
fn a_switch_that_does_not_read_is_not_heard_and_misses_nothing_when_it_does() {
    // More than the sockets of both directions hold.
    const QUESTIONS: u32 = 1_000;
    let controller = Running::start(None);
    let (mut lazy, mut other) = (Switch::join(controller.openflow, 1), Switch::join(controller.openflow, 2));
    let mut stream = lazy.stream.try_clone().expect("a socket");
    let asking = thread::spawn(move || {
        let (mut bytes, data) = (Vec::new(), vec![7; 60_000]);
        for number in 0..QUESTIONS {
            bytes.clear();
            Message::EchoRequest(Echo { data: Bytes(&data) })
                .encode(Xid(number), &mut bytes)
                .expect("it fits");
            stream.write_all(&bytes).expect("an open channel");
        }
    });
    let start = Instant::now();
    while start.elapsed() < Duration::from_millis(500) {
        assert!(other.is_served());
    }
    assert!(!asking.is_finished(), "nobody reads what it says");
    let mut next = 0;
    while next < QUESTIONS {
        let answer = lazy.receive().expect("an open channel");
        if let Ok((xid, Message::EchoReply(echo))) = Message::decode(&answer) {
            assert_eq!((xid, echo.data.0.len()), (Xid(next), 60_000));
            next += 1;
        }
    }
    asking.join().expect("all is said");
}

#[test]
fn many_short_questions_are_all_answered_though_nobody_reads_the_answers_for_a_while() {
    // More than sockets hold on the way back, and more at once than a turn is long.
    const QUESTIONS: u32 = 1_000_000;
    let controller = Running::start(None);
    let (mut lazy, mut other) = (Switch::join(controller.openflow, 1), Switch::join(controller.openflow, 2));
    let mut stream = lazy.stream.try_clone().expect("a socket");
    let asking = thread::spawn(move || {
        let mut bytes = Vec::new();
        for number in 0..QUESTIONS {
            let echo = Message::EchoRequest(Echo { data: Bytes(&[7; 8]) });
            echo.encode(Xid(number), &mut bytes).expect("it fits");
            if bytes.len() > 1 << 16 || number + 1 == QUESTIONS {
                stream.write_all(&bytes).expect("an open channel");
                bytes.clear();
            }
        }
    });
    let start = Instant::now();
    while start.elapsed() < Duration::from_millis(500) {
        assert!(other.is_served());
    }
    let mut next = 0;
    while next < QUESTIONS {
        let answer = lazy.receive().expect("an open channel");
        if let Ok((xid, Message::EchoReply(_))) = Message::decode(&answer) {
            assert_eq!(xid, Xid(next));
            next += 1;
        }
    }
    asking.join().expect("all is said");
}

#[test]
fn a_switch_is_let_in_while_another_says_all_that_it_can() {
    let controller = Running::start(None);
    let loud = Switch::join(controller.openflow, 1);
    let [mut says, mut hears, end] = [(); 3].map(|()| loud.stream.try_clone().expect("a socket"));
    let saying = thread::spawn(move || {
        let (mut bytes, data) = (Vec::new(), [7; 8]);
        for number in 0..2_000 {
            let echo = Message::EchoRequest(Echo { data: Bytes(&data) });
            echo.encode(Xid(number), &mut bytes).expect("it fits");
        }
        while says.write_all(&bytes).is_ok() {}
    });
    let hearing = thread::spawn(move || {
        let mut answers = vec![0; 1 << 16];
        while hears.read(&mut answers).is_ok_and(|read| read > 0) {}
    });
    for dpid in 2..10 {
        assert!(Switch::join(controller.openflow, dpid).is_served());
    }
    assert!(!saying.is_finished(), "it was loud all the time");
    end.shutdown(Shutdown::Both).expect("an open channel");
    saying.join().expect("no panic");
    hearing.join().expect("no panic");
}

#[test]
fn a_port_in_use_is_named() {
    let controller = Running::start(None);
    let http = "127.0.0.1:0".parse().expect("an address");
    let error = Controller::bind(config(controller.openflow, http, None)).expect_err("the port is taken");
    assert!(matches!(error, ControllerError::Listen { what: "switches", .. }));
    assert!(error.to_string().contains(&controller.openflow.to_string()), "{error}");
}
