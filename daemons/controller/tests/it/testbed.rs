//! The links of a testbed over the API: shown, changed, added and removed.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use braid_api::{LinkChange, NewTestbedLink, TestbedEnd, TestbedLink};
use braid_controller::{Config, Testbed, TestbedError};
use serde_json::{Value, json};

use crate::support::{Running, config};

/// Two switches, whose links are only remembered.
#[derive(Debug, Default)]
struct Remembered(Mutex<Vec<TestbedLink>>);

impl Remembered {
    fn place(links: &[TestbedLink], ends: [&str; 2]) -> Result<usize, TestbedError> {
        let is = |link: &TestbedLink| link.ends.each_ref().map(|end| end.name.as_str()) == ends;
        let place = links.iter().position(is);
        place.ok_or_else(|| TestbedError::NoLink(format!("no link {} - {}", ends[0], ends[1])))
    }
}

impl Testbed for Remembered {
    fn links(&self) -> Result<Vec<TestbedLink>, String> {
        Ok(self.0.lock().expect("no panic").clone())
    }

    fn change(&self, ends: [&str; 2], change: LinkChange) -> Result<TestbedLink, TestbedError> {
        let mut links = self.0.lock().expect("no panic");
        let place = Self::place(&links, ends)?;
        links[place].up = change.up.unwrap_or(links[place].up);
        Ok(links[place].clone())
    }

    fn add(&self, between: [&str; 2], link: NewTestbedLink) -> Result<TestbedLink, TestbedError> {
        if link.delay_us.is_some() {
            return Err(TestbedError::Refused("no netem".to_owned()));
        }
        let end = |name: &str| TestbedEnd {
            name: name.to_owned(),
            at: None,
            rate_bps: Some(link.rate_bps),
            delay_us: 0.0,
            loss: link.loss.unwrap_or_default(),
        };
        let link = TestbedLink { up: true, ends: between.map(end) };
        self.0.lock().expect("no panic").push(link.clone());
        Ok(link)
    }

    fn remove(&self, ends: [&str; 2]) -> Result<TestbedLink, TestbedError> {
        let mut links = self.0.lock().expect("no panic");
        let place = Self::place(&links, ends)?;
        Ok(links.remove(place))
    }
}

/// A controller of such a testbed.
fn running() -> Running {
    let any = SocketAddr::from(([127, 0, 0, 1], 0));
    let testbed: Option<Arc<dyn Testbed>> = Some(Arc::new(Remembered::default()));
    Running::start_with(Config { testbed, ..config(any, any, None) })
}

const LINK: &str = "/api/v1/testbed/links?from=s&to=t";

fn ask(controller: &Running, method: &str, path: &str, body: &Value) -> (u16, Value) {
    let body = if body.is_null() { Vec::new() } else { body.to_string().into_bytes() };
    let (status, answer) = controller.send(method, path, &body);
    (status, serde_json::from_str(&answer).expect("JSON"))
}

fn count(controller: &Running) -> Option<usize> {
    let (_, answer) = ask(controller, "GET", "/api/v1/testbed/links", &Value::Null);
    answer["links"].as_array().map(Vec::len)
}

#[test]
fn a_link_is_added_changed_and_removed() {
    let controller = running();
    let (status, added) = ask(&controller, "POST", LINK, &json!({ "rate_bps": 50_000_000, "loss": 0.1 }));
    assert_eq!((status, &added["link"]["up"]), (201, &json!(true)));
    assert_eq!(
        (&added["link"]["ends"][1]["name"], &added["link"]["ends"][0]["loss"]),
        (&json!("t"), &json!(0.1))
    );
    assert_eq!(count(&controller), Some(1));
    let (status, cut) = ask(&controller, "PUT", LINK, &json!({ "up": false }));
    assert_eq!((status, &cut["link"]["up"]), (200, &json!(false)));
    let (status, removed) = ask(&controller, "DELETE", LINK, &Value::Null);
    assert_eq!((status, &removed["link"]), (200, &cut["link"]));
    assert_eq!(count(&controller), Some(0));
}

#[test]
fn what_cannot_be_added_or_removed_is_refused_with_the_reason() {
    let controller = running();
    let refused = |method, path, body: &Value| {
        let (status, problem) = ask(&controller, method, path, body);
        let words =
            ["code", "parameter", "detail"].map(|field| problem[field].as_str().unwrap_or("").to_owned());
        (status, words.join("|"))
    };
    let wrong = [
        json!({ "rate_bps": 10 }),
        json!({ "rate_bps": 8_000, "loss": 2 }),
        json!({}),
        json!({ "rate_bps": 8_000, "up": true }),
    ];
    for body in wrong {
        let (status, text) = refused("POST", LINK, &body);
        assert!(status == 400, "{body}: {status} {text}");
    }
    assert_eq!(refused("POST", "/api/v1/testbed/links?from=s", &json!({ "rate_bps": 8_000 })).0, 400);
    let (status, text) = refused("POST", LINK, &json!({ "rate_bps": 8_000, "delay_us": 5 }));
    assert_eq!((status, text.as_str()), (409, "refused||no netem"));
    let (status, text) = refused("DELETE", LINK, &Value::Null);
    assert_eq!((status, text.as_str()), (404, "not_found||no link s - t"));
    assert_eq!(count(&controller), Some(0));
}

#[test]
fn a_network_that_is_no_testbed_has_no_links_to_add_or_remove() {
    let controller = Running::start(None);
    assert_eq!(count(&controller), Some(0));
    for (method, body) in [("POST", json!({ "rate_bps": 8_000 })), ("DELETE", Value::Null)] {
        let (status, problem) = ask(&controller, method, LINK, &body);
        assert_eq!((status, &problem["code"]), (404, &json!("not_found")), "{problem}");
    }
}
