//! Two members over a real etcd: writes at the standby reach the leader, and reads say how old they are.

use std::fs;
use std::io::{ErrorKind, Read};
use std::net::{SocketAddr, TcpListener};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use braid_controller::{Access, ApiTrust, ClusterConfig, Config, OpenFlowTls, StoreAccess, Tls};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::{Running, config, wait_for};

const ANY: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::LOCALHOST), 0);
const CLAIM: &[u8] = br#"{"src":"10.0.0.1","dst":"10.0.0.2","paths":1}"#;

/// An etcd; it ends with this.
pub(crate) struct Etcd {
    folder: TempDir,
    pub(crate) url: String,
    process: Child,
}

impl Etcd {
    /// `None`, and says so, where it is not installed.
    pub(crate) fn start() -> Option<Self> {
        let folder = tempfile::tempdir().expect("a folder");
        let address = TcpListener::bind(ANY).and_then(|it| it.local_addr()).expect("a port");
        let url = format!("http://{address}");
        let process = Command::new("etcd")
            .arg(format!("--data-dir={}", folder.path().join("data").display()))
            .args([format!("--listen-client-urls={url}"), format!("--advertise-client-urls={url}")])
            .arg("--listen-peer-urls=http://127.0.0.1:0")
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        match process {
            Err(error) if error.kind() == ErrorKind::NotFound => {
                println!("skipped: etcd is not installed");
                None
            }
            process => {
                let process = process.expect("etcd");
                Some(Self { folder, url: url.replace("http://", "etcd://"), process })
            }
        }
    }
}

impl Etcd {
    /// What it answers to this; nothing while it starts.
    fn ask(&self, method: &str, body: &Value) -> Option<Value> {
        let url = format!("{}/v3/kv/{method}", self.url.replace("etcd://", "http://"));
        let text = ureq::post(url).send(body.to_string()).ok()?.body_mut().read_to_string().ok()?;
        serde_json::from_str(&text).ok()
    }

    fn put(&self, key: &str, value: &str) {
        let body = json!({ "key": STANDARD.encode(key), "value": STANDARD.encode(value) });
        wait_for(|| self.ask("put", &body).is_some(), || format!("{key} is not written"));
    }

    fn get(&self, key: &str) -> Option<String> {
        let answer = self.ask("range", &json!({ "key": STANDARD.encode(key) }))?;
        let value = STANDARD.decode(answer["kvs"][0]["value"].as_str()?).ok()?;
        String::from_utf8(value).ok()
    }

    fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.folder.path().join(name);
        fs::write(&path, text).expect("a file");
        path
    }
}

impl Drop for Etcd {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn cluster(store: &str, name: &str) -> ClusterConfig {
    ClusterConfig {
        store: store.parse().expect("a store"),
        access: StoreAccess::default(),
        name: "default".to_owned(),
        member: name.to_owned(),
        listen: ANY,
        advertise: None,
        trusted: false,
        tls: None,
        api_trust: None,
    }
}

pub(crate) fn member(store: &str, name: &str) -> Running {
    member_with(store, name, None)
}

/// A member to which switches prove who they are.
pub(crate) fn member_with(store: &str, name: &str, openflow_tls: Option<OpenFlowTls>) -> Running {
    Running::start_with(Config {
        cluster: Some(cluster(store, name)),
        openflow_tls,
        ..config(ANY, ANY, None)
    })
}

/// A member whose API has this certificate; the test asks it without TLS.
fn encrypted(cluster: ClusterConfig, tls: &Tls) -> Running {
    let plain = TcpListener::bind(ANY).expect("a port");
    let http = plain.local_addr().expect("an address");
    let access = Access { tls: Some(tls.clone()), ..Access::default() };
    let config = Config {
        cluster: Some(cluster),
        access,
        http_inherited: vec![plain.into()],
        ..config(ANY, ANY, None)
    };
    let mut running = Running::start_with(config);
    running.http = http;
    running
}

/// The standby of two members that agree on their leader.
pub(crate) fn standby<'a>(members: [(&str, &'a Running); 2]) -> &'a Running {
    let both = || members.map(|(_, it)| leader(it));
    wait_for(|| both()[0].is_some() && both()[0] == both()[1], || format!("{:?}", both()));
    let leading = both()[0].clone().expect("a leader");
    members.iter().find(|(name, _)| *name != leading).expect("a standby").1
}

fn leader(member: &Running) -> Option<String> {
    let (status, body) = member.get("/api/v1/cluster");
    assert_eq!(status, 200, "{body}");
    let body: Value = serde_json::from_str(&body).expect("JSON");
    body["leader"].as_str().map(str::to_owned)
}

/// The head and body of an answer to a request with this header.
fn exchange(member: &Running, request: &str, header: &str) -> String {
    let mut answer = String::new();
    let (method, path) = request.split_once(' ').expect("a method and a path");
    let headers = ["Host: localhost", "Connection: close", header];
    member.open(method, path, &headers).read_to_string(&mut answer).expect("an answer");
    answer
}

#[test]
fn writes_at_a_standby_are_answered_by_the_leader_and_reads_have_an_age() {
    let Some(etcd) = Etcd::start() else { return };
    let [a, b] = ["a", "b"].map(|name| member(&etcd.url, name));
    let standby = standby([("a", &a), ("b", &b)]);
    // The address of the leader's API comes from the store somewhat later.
    let asked = || standby.send("POST", "/api/v1/assignments", CLAIM);
    wait_for(|| asked().0 != 503, || asked().1);
    let (status, body) = asked();
    assert!(status == 404 && body.contains("no host 10.0.0.1 has been seen"), "the leader's error: {body}");
    let (status, body) = standby.send("POST", "/api/v1/switches/take-over", b"");
    assert_eq!(status, 202, "only a leader does that: {body}");
    let again = exchange(standby, "POST /api/v1/switches/take-over", "Braid-Forwarded: x");
    assert!(
        again.contains("503") && again.contains("not_leader") && again.contains("retry-after: 1"),
        "{again}"
    );
    let advice = exchange(standby, "POST /api/v1/advice", "X-Nothing: x");
    assert!(advice.contains("not_leader"), "an agent is known by its address: {advice}");
    let read = exchange(standby, "GET /api/v1/switches", "X-Nothing: x");
    assert!(read.contains("200 OK") && read.contains("braid-state-age: never"), "{read}");
    let rules = exchange(standby, "GET /api/v1/switches/1/rules", "X-Nothing: x");
    let is_of_leader = rules.contains("no switch 1 is connected") && !rules.contains("braid-state-age");
    assert!(is_of_leader, "switches answer their master only: {rules}");
    let again = exchange(standby, "GET /api/v1/switches/1/rules", "Braid-Forwarded: x");
    assert!(again.contains("not_leader"), "{again}");
    let own = exchange(standby, "GET /api/v1/cluster", "X-Nothing: x");
    assert!(!own.contains("braid-state-age"), "{own}");
}

#[test]
fn without_a_leader_a_write_is_refused_with_the_reason_and_may_be_tried_again() {
    let alone = member("etcd://127.0.0.1:1", "a");
    let answer = exchange(&alone, "POST /api/v1/switches/take-over", "X-Nothing: x");
    assert!(answer.contains("503") && answer.contains("knows of no leader"), "{answer}");
    assert!(answer.contains("retry-after: 1"), "{answer}");
}

#[test]
fn a_standby_passes_writes_on_over_tls_to_a_leader_whose_certificate_it_trusts() {
    let Some(etcd) = Etcd::start() else { return };
    let made = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).expect("a certificate");
    let certificate = etcd.file("cert.pem", &made.cert.pem());
    let tls =
        Tls::read(&certificate, &etcd.file("key.pem", &made.signing_key.serialize_pem())).expect("a pair");
    let trust = || Some(ApiTrust::read(&certificate).expect("a certificate"));
    let trusting = |name| ClusterConfig { api_trust: trust(), ..cluster(&etcd.url, name) };
    let [a, b] = ["a", "b"].map(|name| encrypted(trusting(name), &tls));
    let asked = || standby([("a", &a), ("b", &b)]).send("POST", "/api/v1/switches/take-over", b"");
    wait_for(|| asked().0 == 202, || asked().1);
}

#[test]
fn a_standby_trusts_an_authority_from_when_its_file_has_it_and_keeps_it_when_the_file_is_damaged() {
    let Some(etcd) = Etcd::start() else { return };
    let [made, other] = [(); 2]
        .map(|()| rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).expect("a certificate"));
    let key = etcd.file("key.pem", &made.signing_key.serialize_pem());
    let tls = Tls::read(&etcd.file("cert.pem", &made.cert.pem()), &key).expect("a pair");
    let authority = etcd.file("authority.pem", &other.cert.pem());
    let trust = || Some(ApiTrust::read(&authority).expect("a certificate"));
    let trusting = |name| ClusterConfig { api_trust: trust(), ..cluster(&etcd.url, name) };
    let [a, b] = ["a", "b"].map(|name| encrypted(trusting(name), &tls));
    let asked = || standby([("a", &a), ("b", &b)]).send("POST", "/api/v1/switches/take-over", b"");
    let distrusts = |(status, body): (u16, String)| status == 503 && body.contains("certificate");
    wait_for(|| distrusts(asked()), || asked().1);
    etcd.file("authority.pem", &made.cert.pem());
    wait_for(|| asked().0 == 202, || asked().1);
    etcd.file("authority.pem", "nothing");
    assert_eq!(asked().0, 202, "the authority before stays");
}

#[test]
fn a_standby_that_cannot_check_the_leaders_certificate_says_so() {
    let Some(etcd) = Etcd::start() else { return };
    let made = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).expect("a certificate");
    let certificate = etcd.file("cert.pem", &made.cert.pem());
    let tls =
        Tls::read(&certificate, &etcd.file("key.pem", &made.signing_key.serialize_pem())).expect("a pair");
    let [a, b] = ["a", "b"].map(|name| encrypted(cluster(&etcd.url, name), &tls));
    let asked = || standby([("a", &a), ("b", &b)]).send("POST", "/api/v1/switches/take-over", b"");
    let says_so = |(status, body): (u16, String)| status == 503 && body.contains("--cluster-api-ca");
    wait_for(|| says_so(asked()), || asked().1);
}

#[test]
fn damaged_values_in_the_store_are_alarms_and_are_left_alone() {
    let Some(etcd) = Etcd::start() else { return };
    let keys = ["assignments/0000000000000007", "members/x", "policy", "term"]
        .map(|it| format!("/braid/default/{it}"));
    keys.iter().for_each(|key| etcd.put(key, "[[rule]\u{1}"));
    let a = member(&etcd.url, "a");
    wait_for(|| leader(&a).is_some(), || a.get("/api/v1/cluster").1);
    let corrupt = || a.list("alarms").into_iter().find(|it| it["kind"] == "corrupt_store");
    // The assignment, the policy, and one of the others.
    let count = || corrupt().and_then(|it| it["count"].as_u64()).unwrap_or(0);
    wait_for(|| count() >= 3, || format!("{:?}", a.list("alarms")));
    let (status, body) = a.send("POST", "/api/v1/assignments", CLAIM);
    assert!(status == 404 && body.contains("no host"), "it goes on: {body}");
    let left: Vec<_> = keys[..3].iter().filter_map(|key| etcd.get(key)).collect();
    assert_eq!(left, ["[[rule]\u{1}"; 3]);
    assert!(etcd.get(&keys[3]).is_some_and(|term| term.parse::<u64>().is_ok()), "the term is written again");
}

#[test]
fn the_leader_and_each_standby_say_how_far_the_standby_is() {
    let Some(etcd) = Etcd::start() else { return };
    let [a, b] = ["a", "b"].map(|name| member(&etcd.url, name));
    let standby = standby([("a", &a), ("b", &b)]);
    let leading = leader(standby).expect("a leader");
    let (leader, own) = if leading == "a" { (&a, "b") } else { (&b, "a") };
    let following = |asked: &Running, of: &str| {
        let status: Value = serde_json::from_str(&asked.get("/api/v1/cluster").1).expect("JSON");
        let members = status["members"].as_array().cloned().unwrap_or_default();
        members.into_iter().find(|it| it["name"] == of).map(|it| it["following"].clone())
    };
    let has_lag = |asked: &Running| following(asked, own).is_some_and(|it| it["lag_us"].is_u64());
    wait_for(|| has_lag(leader) && has_lag(standby), || leader.get("/api/v1/cluster").1);
    assert_eq!(following(leader, &leading), Some(Value::Null), "a leader follows nobody");
    let metrics = leader.get("/metrics").1;
    assert!(metrics.contains("braid_cluster_followers 1"), "{metrics}");
    assert!(metrics.contains(&format!("braid_cluster_lag_seconds{{member=\"{own}\"}}")), "{metrics}");
}
