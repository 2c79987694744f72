//! Links between real interfaces, each test in a network namespace of its own.

mod support;

use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use braid_link::{Change, Client, ControlError, Engine, LinkError, LinkSetup, Setup};
use braid_link_model::{Amount, Delay, Parameters, QueueLimit};
use braid_types::BitsPerSec;
use support::{Bench, bench, frame, ip};

fn change(text: &str) -> braid_link_model::Change {
    serde_json::from_str(text).unwrap()
}

#[test]
fn frames_pass_unchanged_and_in_order_in_both_directions() {
    let Some(bench) = bench() else { return };
    let parameters = Parameters { delay: Delay::from_millis(5), ..Parameters::default() };
    bench.run(parameters, |bench, _| {
        for (from, to) in [("a0", "b0"), ("b0", "a0")] {
            let (sender, receiver) = (bench.socket(from), bench.socket(to));
            let frames: Vec<_> =
                (0..100).map(|number| frame(number, 60 + 10 * usize::from(number))).collect();
            frames.iter().for_each(|frame| sender.send(frame));
            assert!(frames.iter().all(|frame| receiver.receive() == *frame), "{from} to {to}");
        }
    });
}

#[test]
fn vlan_tags_stay_where_they_are() {
    let Some(bench) = bench() else { return };
    bench.run(Parameters::default(), |bench, client| {
        let (sender, receiver) = (bench.socket("a0"), bench.socket("b0"));
        let (outer, inner) = ([0x81, 0, 0x20, 7], [0x81, 0, 0x60, 9]);
        let plain = frame(1, 200);
        let tagged = |tags: &[[u8; 4]]| [&plain[..12], tags.concat().as_slice(), &plain[12..]].concat();
        sender.send(&tagged(&[outer, inner]));
        // A packet socket sees a frame without its outermost tag. If the link lost that, it would be the inner one.
        assert_eq!(receiver.receive(), tagged(&[inner]));
        assert_eq!(client.status().unwrap().links[0].directions[0].counters.delivered.bytes, 208);
    });
}

#[test]
fn what_arrives_and_what_is_dropped_add_up_to_what_was_sent() {
    let Some(bench) = bench() else { return };
    let parameters = Parameters {
        rate: Some(BitsPerSec(8_000_000)),
        queue: QueueLimit::Packets(20),
        ..Parameters::default()
    };
    bench.run(parameters, |bench, client| {
        let (sender, receiver) = (bench.socket("a0"), bench.socket("b0"));
        (0..200).for_each(|number| sender.send(&frame(number, 1_000)));
        let direction =
            bench.until(client, |link| link.directions[0].counters.offered.frames == 200).directions[0];
        assert!(direction.counters.overflowed.frames > 0, "{direction:?}");
        let direction =
            bench.until(client, |link| link.directions[0].inside == Default::default()).directions[0];
        let Amount { frames, bytes } = direction.counters.delivered;
        assert_eq!(frames + direction.counters.overflowed.frames, 200);
        assert_eq!((bytes, direction.undeliverable.frames), (frames * 1_000, 0));
        (0..frames).for_each(|_| assert_eq!(receiver.receive().len(), 1_000));
    });
}

#[test]
fn parameters_change_while_frames_are_inside_and_none_is_lost() {
    let Some(bench) = bench() else { return };
    bench.run(Parameters { delay: Delay::from_millis(50), ..Parameters::default() }, |bench, client| {
        let (sender, receiver) = (bench.socket("a0"), bench.socket("b0"));
        for number in 0..250_u8 {
            sender.send(&frame(number, 500));
            let text =
                format!(r#"{{"delay":"{}ms","rate":"{}Mbit"}}"#, 1 + number % 40, 10 + u64::from(number));
            let status =
                client.change(Change { link: 0, directions: [change(&text), change("{}")] }).unwrap();
            assert_eq!(
                status.links[0].directions[0].parameters.rate,
                Some(BitsPerSec((10 + u64::from(number)) * 1_000_000))
            );
        }
        (0..250).for_each(|number| assert_eq!(receiver.receive(), frame(number, 500)));
        let loss = Change { link: 0, directions: [change(r#"{"loss":"100%"}"#), change("{}")] };
        let link = &client.change(loss).unwrap().links[0];
        // Merged with what was set before, and the direction back is as it was.
        assert_eq!(link.directions[0].parameters.delay.to_string(), "10ms");
        assert_eq!(link.directions[1].parameters.delay.to_string(), "50ms");
        (0..30).for_each(|number| sender.send(&frame(number, 500)));
        let link = bench.until(client, |link| link.directions[0].counters.offered.frames == 280);
        bench.until(client, |link| link.directions[0].counters.lost.frames == 30);
        assert_eq!(link.directions[0].counters.delivered.frames, 250);
    });
}

#[test]
fn what_makes_no_sense_is_refused_and_nothing_changes() {
    let Some(bench) = bench() else { return };
    bench.run(Parameters::default(), |bench, client| {
        let refused = |error: ControlError, text: &str| {
            assert!(matches!(error, ControlError::Refused(ref why) if why.contains(text)), "{error}");
        };
        let nowhere = Change { link: 7, ..Change::default() };
        refused(client.change(nowhere).unwrap_err(), "there is no link 7; there are 1");
        let zero =
            Change { link: 0, directions: [change(r#"{"delay":"9ms"}"#), change(r#"{"rate":"0bit"}"#)] };
        refused(client.change(zero).unwrap_err(), "the rate of 0bit is out of range");
        assert_eq!(
            client.status().unwrap().links[0].directions.map(|direction| direction.parameters),
            [Parameters::default(); 2]
        );

        let mut raw = BufReader::new(UnixStream::connect(bench.control()).unwrap());
        raw.get_mut().write_all(b"{\"reboot\":1}\nnonsense\n\"status\"\n").unwrap();
        let answers: Vec<_> = raw.lines().take(3).map(Result::unwrap).collect();
        assert!(
            answers[..2].iter().all(|answer| answer.starts_with(r#"{"error":"not a request: "#)),
            "{answers:?}"
        );
        assert!(answers[2].starts_with(r#"{"ok":{"links":[{"devices":["a1","b1"]"#), "{answers:?}");

        // A client that sends without end is disconnected, and others are still served.
        let mut endless = UnixStream::connect(bench.control()).unwrap();
        endless.set_write_timeout(Some(Duration::from_secs(10))).unwrap();
        while endless.write_all(&[b'x'; 4_096]).is_ok() {}
        client.status().unwrap();
    });
}

#[test]
fn a_link_that_is_cut_loses_what_is_on_it_and_works_again_when_restored() {
    let Some(bench) = bench() else { return };
    bench.run(Parameters { delay: Delay::from_millis(300), ..Parameters::default() }, |bench, client| {
        let (sender, receiver) = (bench.socket("a0"), bench.socket("b0"));
        sender.send(&frame(1, 100));
        bench.until(client, |link| link.directions[0].counters.offered.frames == 1);
        bench.inside(|| ip("link set b1 down"));
        bench.until(client, |link| link.directions[0].undeliverable == Amount { frames: 1, bytes: 100 });
        bench.inside(|| ip("link set b1 up"));
        sender.send(&frame(2, 100));
        assert_eq!(receiver.receive(), frame(2, 100));
        // Its own end was down, too: frames from there pass as well.
        let (sender, receiver) = (bench.socket("b0"), bench.socket("a0"));
        sender.send(&frame(3, 100));
        assert_eq!(receiver.receive(), frame(3, 100));
    });
}

#[test]
fn frames_beyond_the_mtu_are_counted_and_not_cut() {
    let Some(bench) = bench() else { return };
    bench.run(Parameters::default(), |bench, client| {
        // As when segmentation is left to an interface: longer than the link was configured to expect.
        bench.inside(|| ["a0", "a1"].map(|device| ip(&format!("link set {device} mtu 9000"))));
        let (sender, receiver) = (bench.socket("a0"), bench.socket("b0"));
        sender.send(&frame(1, 8_000));
        sender.send(&frame(2, 1_514));
        assert_eq!(receiver.receive(), frame(2, 1_514));
        let link = &client.status().unwrap().links[0];
        assert_eq!((link.directions[0].counters.offered.frames, link.ports[0].too_long), (1, 1));
    });
}

#[test]
fn what_cannot_be_opened_is_named() {
    let Some(bench) = bench() else { return };
    bench.inside(|| {
        const MBIT: u64 = 1_000_000;
        let setup = |device: &str, rate: u64, socket: &str| Setup {
            socket: socket.into(),
            seed: 0,
            links: vec![LinkSetup {
                devices: ["a1".to_owned(), device.to_owned()],
                directions: [Parameters { rate: Some(BitsPerSec(rate)), ..Parameters::default() }; 2],
            }],
        };
        let error = |setup: Setup| Engine::new(&setup).err().unwrap();
        let missing = error(setup("eth7", MBIT, "/nowhere"));
        assert!(matches!(missing, LinkError::Device { ref device, .. } if device == "eth7"), "{missing}");
        let long = error(setup("a-name-that-no-interface-can-have", MBIT, "/nowhere"));
        assert!(matches!(long, LinkError::Device { .. }), "{long}");
        assert!(matches!(error(setup("b1", 0, "/nowhere")), LinkError::Parameters { .. }));
        assert!(matches!(error(setup("b1", MBIT, "/nowhere/at/all")), LinkError::Socket { .. }));
    });
}

#[test]
fn many_links_are_served_by_one_thread() {
    let Some(bench) = bench() else { return };
    const LINKS: usize = 32;
    let pairs: Vec<_> = (0..LINKS).map(|link| [format!("l{link}a1"), format!("l{link}b1")]).collect();
    for [a, b] in &pairs {
        for device in [a, b] {
            bench.inside(|| Bench::veth(device.trim_end_matches('1')));
        }
    }
    let directions = [Parameters { delay: Delay::from_millis(3), ..Parameters::default() }; 2];
    let links = pairs.iter().map(|devices| LinkSetup { devices: devices.clone(), directions }).collect();
    bench.run_setup(links, |bench, client| {
        let receivers: Vec<_> = (0..LINKS).map(|link| bench.socket(&format!("l{link}b0"))).collect();
        for link in 0..LINKS {
            bench.socket(&format!("l{link}a0")).send(&frame(link as u8, 300));
        }
        for (link, receiver) in receivers.iter().enumerate() {
            assert_eq!(receiver.receive(), frame(link as u8, 300));
        }
        let status = client.status().unwrap();
        assert!(status.links.iter().all(|link| link.directions[0].counters.delivered.frames == 1));
        assert_eq!(status.links.len(), LINKS);
    });
}

#[test]
fn a_process_that_ended_leaves_its_place_to_the_next() {
    let Some(bench) = bench() else { return };
    bench.run(Parameters::default(), |_, client| drop(client.status().unwrap()));
    // A process that another test is just starting may have the socket, too, until it runs its program.
    let is_gone = || matches!(Client::connect(&bench.control()), Err(ControlError::Unreachable { .. }));
    let deadline = Instant::now() + Duration::from_secs(5);
    while !is_gone() {
        assert!(Instant::now() < deadline, "somebody still listens");
    }
    bench.run(Parameters::default(), |_, client| drop(client.status().unwrap()));
}
