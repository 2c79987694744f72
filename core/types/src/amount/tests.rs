//! The table of what is read, what is printed, and what is refused.

use std::time::Duration;

use super::*;

/// A text, its amount in the smallest unit, and how it is printed for people.
type Read = (&'static str, u64, &'static str);

const RATES: [Read; 22] = [
    ("100Mbit", 100_000_000, "100Mbit"),
    ("50Mbps", 50_000_000, "50Mbit"),
    ("10G", 10_000_000_000, "10Gbit"),
    ("100 Mbps", 100_000_000, "100Mbit"),
    ("50Mbit/s", 50_000_000, "50Mbit"),
    ("10Gbit", 10_000_000_000, "10Gbit"),
    (" 10 Gb/s ", 10_000_000_000, "10Gbit"),
    ("10000 Mbits/s", 10_000_000_000, "10Gbit"),
    ("94.4 Mbits/sec", 94_400_000, "94.4Mbit"),
    ("2.5 gbit", 2_500_000_000, "2.5Gbit"),
    ("1tbit", 1_000_000_000_000, "1Tbit"),
    ("64k", 64_000, "64kbit"),
    ("64000bit", 64_000, "64kbit"),
    ("64000 bps", 64_000, "64kbit"),
    (".5Mbit", 500_000, "500kbit"),
    ("1.544Mbit", 1_544_000, "1.544Mbit"),
    ("9909326.95kbit", 9_909_326_950, "9.909Gbit"),
    ("102380.098kbit", 102_380_098, "102.4Mbit"),
    ("999.96Mbit", 999_960_000, "1Gbit"),
    ("0.6bit", 1, "1bit"),
    ("0", 0, "0bit"),
    ("0Mbit", 0, "0bit"),
];

const TIMES: [Read; 17] = [
    ("10ms", 10_000_000, "10ms"),
    ("0.5ms", 500_000, "500us"),
    ("500 us", 500_000, "500us"),
    ("500µs", 500_000, "500us"),
    ("500μs", 500_000, "500us"),
    ("5 usec", 5_000, "5us"),
    ("286.115us", 286_115, "286.1us"),
    ("1500ms", 1_500_000_000, "1.5s"),
    ("3.4616ms", 3_461_600, "3.462ms"),
    ("70ns", 70, "70ns"),
    ("1.005us", 1_005, "1.005us"),
    ("2 min", 120_000_000_000, "120s"),
    ("1h", 3_600_000_000_000, "3600s"),
    ("1.5 seconds", 1_500_000_000, "1.5s"),
    ("999.99ms", 999_990_000, "1s"),
    ("0", 0, "0s"),
    ("0ms", 0, "0s"),
];

const SIZES: [Read; 11] = [
    ("200MB", 200_000_000, "200MB"),
    ("64 kB", 64_000, "64kB"),
    ("64KB", 64_000, "64kB"),
    ("64KiB", 65_536, "65.54kB"),
    ("1000 bytes", 1_000, "1kB"),
    ("7B", 7, "7B"),
    ("1 byte", 1, "1B"),
    ("1.5MB", 1_500_000, "1.5MB"),
    ("2GB", 2_000_000_000, "2GB"),
    ("123456789B", 123_456_789, "123.5MB"),
    ("0B", 0, "0B"),
];

#[test]
fn amounts_are_read_in_every_spelling_and_printed_in_one() {
    for (text, bits, printed) in RATES {
        let rate: BitsPerSec = text.parse().unwrap_or_else(|error| panic!("{error}"));
        assert_eq!((rate.0, rate.to_string().as_str()), (bits, printed), "{text}");
        assert_eq!(rate.exact().parse(), Ok(rate), "{text}");
    }
    for (text, nanos, printed) in TIMES {
        let time = parse_time(text).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!((time.as_nanos(), short_time(time).as_str()), (nanos.into(), printed), "{text}");
        assert_eq!(parse_time(&exact_time(time)), Ok(time), "{text}");
    }
    for (text, bytes, printed) in SIZES {
        let size = parse_size(text).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!((size, short_size(size).as_str()), (bytes, printed), "{text}");
        assert_eq!(parse_size(&exact_size(size)), Ok(size), "{text}");
    }
}

#[test]
fn what_is_refused_is_answered_with_the_units_there_are() {
    let rate = |text: &str| text.parse::<BitsPerSec>().unwrap_err().to_string();
    let time = |text: &str| parse_time(text).unwrap_err().to_string();
    let size = |text: &str| parse_size(text).unwrap_err().to_string();
    for (said, expected) in [
        (rate("100"), r#""100" lacks a unit: write 100bit, 100kbit, 100Mbit, 100Gbit or 100Tbit"#),
        (rate("fast"), r#""fast" is not a rate: write a number with a unit: bit, kbit, Mbit, Gbit or Tbit"#),
        (
            rate("10GB/s"),
            r#""10GB/s" is not a rate: B means bytes, and rates are in bits: write bit, kbit, Mbit, Gbit or Tbit"#,
        ),
        (
            rate("10 furlongs"),
            r#""10 furlongs" is not a rate: there is no unit "furlongs": write bit, kbit, Mbit, Gbit or Tbit"#,
        ),
        (rate("99999999999T"), r#""99999999999T" is too large"#),
        (time("1"), r#""1" lacks a unit: write 1ns, 1us, 1ms or 1s"#),
        (
            time("5m"),
            r#""5m" is not a time: m could be minutes (min) or milliseconds (ms): write ns, us, ms or s"#,
        ),
        (size("200"), r#""200" lacks a unit: write 200B, 200kB, 200MB, 200GB or 200TB"#),
        (
            size("8Mbit"),
            r#""8Mbit" is not a size: b means bits, and sizes are in bytes: write B, kB, MB, GB or TB"#,
        ),
        (size("0.0001kB"), r#""0.0001kB" is not a size: it is not a whole number of B"#),
    ] {
        assert_eq!(said, expected);
    }
}

#[test]
fn what_is_no_amount_is_refused() {
    let no_numbers =
        ["", ".", "Mbit", "-1Mbit", "+1Mbit", "1e9", "1e9bit", "1.2.3kbit", "NaN", "inf", "1,5Mbit"];
    for text in no_numbers.into_iter().chain([
        "9b",
        "10MBps",
        "10 M bit",
        "10mbitx",
        "10é",
        "99999999999999999999bit",
    ]) {
        assert!(text.parse::<BitsPerSec>().is_err(), "{text}");
    }
    for text in [
        "",
        "ms",
        "10",
        "-1ms",
        "NaNs",
        "infs",
        "1e3ms",
        "10 parsecs",
        "1.2.3s",
        "10MS",
        "99999999999999999999s",
    ] {
        assert!(parse_time(text).is_err(), "{text}");
    }
    for text in ["", "MB", "200", "-1kB", "1e30MB", "1.5 bytes", "64k", "10 frames", "99999999999999GB"] {
        assert!(parse_size(text).is_err(), "{text}");
    }
    let minute = Duration::from_secs(60);
    assert_eq!(parse_time_within("60s", minute, "0s to 60s"), Ok(minute));
    let error = parse_time_within("61s", minute, "0s to 60s").unwrap_err();
    assert_eq!(error.to_string(), r#""61s" is out of range: write 0s to 60s"#);
}

#[test]
fn the_exact_form_loses_nothing() {
    for (bits, exact) in [(1_000_050, "1.00005Mbit"), (64_001, "64.001kbit"), (999, "999bit"), (0, "0bit")] {
        assert_eq!(BitsPerSec(bits).exact(), exact);
    }
    assert_eq!(exact_time(Duration::from_nanos(286_115)), "286.115us");
    assert_eq!(exact_size(123_456_789), "123.456789MB");
    for extreme in [u64::MAX, u64::MAX - 1, 1] {
        assert_eq!(BitsPerSec(extreme).exact().parse(), Ok(BitsPerSec(extreme)));
        assert!(!BitsPerSec(extreme).to_string().is_empty());
    }
}
