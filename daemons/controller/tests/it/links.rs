//! Links over the API: measured values with times, metrics by port, and capacity on request.

use crate::metrics::families_with_labels_as_listed;
use crate::paths::network;
use crate::support::wait_for;

#[test]
fn links_are_measured_and_each_reading_has_its_time() {
    let controller = network();
    let links = || controller.list("links");
    let measured =
        |link: &serde_json::Value| ["delay_us", "load_bps", "loss"].iter().all(|it| !link[it].is_null());
    wait_for(|| links().iter().all(measured), || format!("{:?}", links()));
    for link in links() {
        assert!(link["load_bps"].as_u64() > Some(0), "{link}");
        assert!(link["available_bps"].as_u64() < link["capacity_bps"].as_u64(), "{link}");
        assert!(link["delay_us"]["base"].as_f64() <= link["delay_us"]["current"].as_f64(), "{link}");
        assert!(["delay_at", "load_at", "loss_at"].iter().all(|it| link[it].is_u64()), "{link}");
    }
}

#[test]
fn links_have_metrics_that_are_labelled_by_their_ports() {
    let controller = network();
    let labels = r#"{src="0000000000000001:1",dst="0000000000000002:1"}"#;
    let names = ["latency_seconds", "load_bytes_per_second", "loss_ratio", "transmitted_packets_total"];
    let has = |body: &str| names.iter().all(|name| body.contains(&format!("\nbraid_link_{name}{labels} ")));
    wait_for(|| has(&controller.get("/metrics").1), || controller.get("/metrics").1);
    let (_, body) = controller.get("/metrics");
    let age = r#"braid_link_reading_age_seconds{src="0000000000000001:1",dst="0000000000000002:1",reading="latency"}"#;
    assert!(body.contains(age), "{body}");
    assert!(families_with_labels_as_listed(&body).contains("braid_link_reading_age_seconds"));
}

#[test]
fn the_capacity_of_a_link_is_measured_when_somebody_asks() {
    let controller = network();
    let (status, body) = controller.request("POST", "/api/v1/links/measure?dpid=0000000000000001&port=1");
    assert_eq!(status, 202, "{body}");
    let began = serde_json::from_str::<serde_json::Value>(&body).expect("JSON")["now"].as_u64();
    let tried = |link: &serde_json::Value| link["measured_capacity_at"].as_u64() > began;
    let link = || controller.list("links").into_iter().find(|link| link["src"]["dpid"] == "0000000000000001");
    wait_for(|| link().is_some_and(|link| tried(&link)), || format!("{:?}", link()));
    for (path, expected) in [("?dpid=1&port=77", 404), ("?dpid=x&port=1", 400), ("", 400)] {
        let (status, body) = controller.request("POST", &format!("/api/v1/links/measure{path}"));
        assert_eq!(status, expected, "{body}");
    }
    assert_eq!(controller.request("GET", "/api/v1/links/measure?dpid=1&port=1").0, 405);
}
