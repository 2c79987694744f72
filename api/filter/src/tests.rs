//! Tests of filters.

use serde_json::Value;

use super::*;

fn read(text: &str) -> Filter {
    text.parse().expect("a filter")
}

#[test]
fn items_are_chosen_as_on_the_page() {
    let cases: Value = serde_json::from_str(include_str!("../../../web/tests/filter.json")).expect("cases");
    let item = &cases["item"];
    for case in cases["cases"].as_array().expect("cases") {
        let text = case[0].as_str().expect("a text");
        let fits = text.parse::<Filter>().map(|filter| filter.fits(item)).ok();
        assert_eq!(fits, case[1].as_bool(), "{text}");
    }
}

#[test]
fn an_item_is_read_from_its_bytes_as_from_its_value() {
    let text = r#"{"na\u006de":"Z\u00fcrich","ports":[{"up":true,"speed":1.5,"last":-7,"peer":null}]}"#;
    let value: Value = serde_json::from_str(text).expect("JSON");
    for (filter, fits) in [
        ("name=zürich", true),
        ("name=zür", false),
        ("name~ZÜRICH", true),
        ("zürich up=true", true),
        ("speed=1.5 last<0 peer=null", true),
        ("ports.up=false", false),
        ("-ports.up=false", true),
    ] {
        let filter = read(filter);
        assert_eq!(filter.fits(&value), fits, "{}", filter.text());
        assert_eq!(filter.fits(&mut serde_json::Deserializer::from_str(text)), fits, "{}", filter.text());
    }
}

#[test]
fn what_is_no_item_fits_nothing() {
    let fits = |text: &str| read("-a").fits(&mut serde_json::Deserializer::from_str(text));
    assert!(fits(r#"{"b":1}"#));
    assert!(!fits(r#"{"b":"#) && !fits("") && !fits(&"[".repeat(1_000)));
}
