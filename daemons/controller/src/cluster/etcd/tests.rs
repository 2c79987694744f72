//! A real etcd with TLS, client certificates, users and passwords; and each of them wrong.

mod server;

use std::time::Instant;

use braid_cluster::{Entries, IntentAnswer, IntentRequest, IntentView, LeaseId, RunId};
use braid_types::Term;
use serde_json::{Value, json};

use super::super::json::encode;
use super::*;
use server::{Issued, Pki, Server, tls};

const LOCAL: [&str; 2] = ["127.0.0.1", "localhost"];

/// A client of cluster `c`, or what is wrong with its files.
fn client(url: &str, files: StoreCredentials) -> Result<Etcd, StoreAccessError> {
    let store: StoreUrl = url.parse().expect("a store");
    StoreAccess::read(&store, files).map(|access| Etcd::new(&store, access, "c"))
}

fn trusting(pki: &Pki) -> StoreCredentials {
    StoreCredentials { authority: Some(pki.authority()), ..StoreCredentials::default() }
}

fn showing(pki: &Pki, own: &Issued) -> StoreCredentials {
    let (certificate, key) = (Some(own.certificate.clone()), Some(own.key.clone()));
    StoreCredentials { certificate, key, ..trusting(pki) }
}

/// etcd listens before it answers, and takes its time on a busy machine.
fn patiently<T>(mut call: impl FnMut() -> Result<T, EtcdError>) -> Result<T, EtcdError> {
    let deadline = Instant::now() + Duration::from_secs(30);
    loop {
        match call() {
            Err(EtcdError::Unreachable(_)) if Instant::now() < deadline => {}
            answer => return answer,
        }
    }
}

/// The failure of a write, which is told to alarms, too.
fn denied(mut etcd: Etcd) -> String {
    match patiently(|| etcd.put("a", "1")) {
        Err(EtcdError::Denied(why)) => {
            assert_eq!(etcd.failure().as_ref(), Some(&why));
            why
        }
        other => panic!("{other:?}"),
    }
}

fn assert_works(mut etcd: Etcd) {
    patiently(|| etcd.put("a", "1")).expect("a write");
    assert_eq!(etcd.read("a"), Ok(Some("1".to_owned())));
    assert_eq!(etcd.failure(), None);
}

#[test]
fn etcd_is_reached_over_tls_with_a_client_certificate() {
    let pki = Pki::new();
    let options = tls(&pki.issue(&LOCAL, None), Some(&pki));
    let Some(server) = Server::start(options) else { return };
    let url = format!("etcds://{}", server.endpoint());
    assert_works(client(&url, showing(&pki, &pki.issue(&[], Some("braid")))).expect("its files"));
}

#[test]
fn a_certificate_that_is_replaced_is_shown_without_a_new_client() {
    let (pki, other) = (Pki::new(), Pki::new());
    let Some(server) = Server::start(tls(&pki.issue(&LOCAL, None), Some(&pki))) else { return };
    let url = format!("etcds://{}", server.endpoint());
    let shown = other.issue(&[], None);
    let mut etcd = client(&url, showing(&pki, &shown)).expect("its files");
    assert!(etcd.put("a", "1").is_err(), "of another authority");
    let own = pki.issue(&[], None);
    std::fs::rename(&own.key, &shown.key).expect("a file");
    assert!(etcd.put("a", "1").is_err(), "half of it");
    std::fs::rename(&own.certificate, &shown.certificate).expect("a file");
    assert_works(etcd);
}

#[test]
fn each_wrong_certificate_is_named_with_what_to_do() {
    let (pki, other) = (Pki::new(), Pki::new());
    let Some(server) = Server::start(tls(&pki.issue(&LOCAL, None), Some(&pki))) else { return };
    let elsewhere = Server::start(tls(&pki.issue(&["etcd.example"], None), None)).expect("etcd");
    let plain = Server::start(Vec::new()).expect("etcd");
    let [server, elsewhere, plain] =
        [server.endpoint(), elsewhere.endpoint(), plain.endpoint()].map(|it| format!("etcds://{it}"));
    let own = pki.issue(&[], None);
    let wrong_authority = StoreCredentials { authority: Some(other.authority()), ..showing(&pki, &own) };
    let cases = [
        (&server, wrong_authority, "is not signed by an authority in"),
        (&elsewhere, trusting(&pki), "is not for 127.0.0.1"),
    ];
    for (url, files, why) in cases {
        let denied = denied(client(url, files).expect("its files"));
        assert!(denied.contains(why), "{denied}");
    }
    // These connections end, some with an alert that may be lost on the way.
    let foreign = showing(&pki, &other.issue(&[], None));
    let refused = [
        (server.clone(), trusting(&pki), "--cluster-etcd-certificate"),
        (server.clone(), foreign, "authority"),
        (plain, trusting(&pki), "etcd://"),
        (server.replace("etcds", "etcd"), StoreCredentials::default(), "etcds://"),
    ];
    for (url, files, why) in refused {
        let error = client(&url, files).expect("its files").put("a", "1").expect_err("a refusal").to_string();
        assert!(error.contains(why), "{error}");
    }
}

/// Users of an etcd: `braid` may use cluster `c`, `limited` nothing.
fn enable_users(mut root: Etcd) {
    let mut call = |method: &str, body: Value| {
        let done = |error: &EtcdError| error.to_string().contains("already");
        patiently(|| {
            root.call(method, &body).map(drop).or_else(|error| if done(&error) { Ok(()) } else { Err(error) })
        })
        .expect(method);
    };
    for (user, role) in [("root", "root"), ("braid", "braid"), ("limited", "nothing")] {
        call("auth/user/add", json!({ "name": user, "password": format!("password-of-{user}") }));
        call("auth/role/add", json!({ "name": role }));
        call("auth/user/grant", json!({ "user": user, "role": role }));
    }
    let [key, range_end] = ["/braid/c/", "/braid/c0"].map(encode);
    let perm = json!({ "permType": "READWRITE", "key": key, "range_end": range_end });
    call("auth/role/grant", json!({ "name": "braid", "perm": perm }));
    call("auth/enable", json!({}));
}

fn login(pki: &Pki, user: &str, password: &str) -> StoreCredentials {
    let password = Some(pki.file(&format!("password-{user}"), &format!("{password}\n")));
    StoreCredentials { user: Some(user.to_owned()), password, ..StoreCredentials::default() }
}

#[test]
fn a_user_with_a_password_is_let_in_also_after_etcd_has_forgotten_its_tokens() {
    let pki = Pki::new();
    let Some(mut server) = Server::start(Vec::new()) else { return };
    let url = format!("etcd://{}", server.endpoint());
    let files = login(&pki, "braid", "password-of-braid");
    assert_works(client(&url, files.clone()).expect("its files"));
    enable_users(client(&url, StoreCredentials::default()).expect("no files"));
    let etcd = client(&url, files).expect("its files");
    assert_works(etcd.clone());
    server.restart();
    assert_works(etcd);
}

#[test]
fn a_token_of_an_etcd_that_was_wiped_does_not_keep_the_new_one_from_answering() {
    let pki = Pki::new();
    let Some(mut server) = Server::start(Vec::new()) else { return };
    let url = format!("etcd://{}", server.endpoint());
    enable_users(client(&url, StoreCredentials::default()).expect("no files"));
    let etcd = client(&url, login(&pki, "braid", "password-of-braid")).expect("its files");
    assert_works(etcd.clone());
    server.restart_wiped();
    assert_works(etcd);
}

#[test]
fn wrong_passwords_and_refused_roles_are_named_with_what_to_do() {
    let pki = Pki::new();
    let Some(server) = Server::start(Vec::new()) else { return };
    let url = format!("etcd://{}", server.endpoint());
    enable_users(client(&url, StoreCredentials::default()).expect("no files"));
    let cases = [
        (StoreCredentials::default(), "--cluster-etcd-user"),
        (login(&pki, "braid", "something-else"), "it refuses user \"braid\""),
        (login(&pki, "nobody", "something-else"), "it refuses user \"nobody\""),
        (
            login(&pki, "limited", "password-of-limited"),
            "\"limited\" may not read and write the keys of /braid/c/",
        ),
    ];
    for (files, why) in cases {
        let denied = denied(client(&url, files).expect("its files"));
        assert!(denied.contains(why) && !denied.contains("something-else"), "{denied}");
    }
}

#[test]
fn with_passwords_a_client_certificate_has_no_common_name() {
    let pki = Pki::new();
    let Some(server) = Server::start(tls(&pki.issue(&LOCAL, None), Some(&pki))) else { return };
    let url = format!("etcds://{}", server.endpoint());
    let nameless = showing(&pki, &pki.issue(&[], None));
    enable_users(client(&url, nameless.clone()).expect("its files"));
    let with_login = |files: StoreCredentials| {
        let login = login(&pki, "braid", "password-of-braid");
        StoreCredentials {
            authority: files.authority,
            certificate: files.certificate,
            key: files.key,
            ..login
        }
    };
    assert_works(client(&url, with_login(nameless)).expect("its files"));
    let named = showing(&pki, &pki.issue(&[], Some("braid")));
    let denied = denied(client(&url, with_login(named)).expect("its files"));
    assert!(denied.contains("no common name"), "{denied}");
}

#[test]
fn files_that_do_not_fit_together_are_refused_before_anything_is_opened() {
    let pki = Pki::new();
    let (one, two) = (pki.issue(&[], None), pki.issue(&[], None));
    let mixed = Issued { certificate: one.certificate.clone(), key: two.key };
    let empty = login(&pki, "empty", "");
    let absent =
        StoreCredentials { authority: Some("/nowhere/ca.pem".into()), ..StoreCredentials::default() };
    let cases = [
        ("etcds://a:1", StoreCredentials::default(), "needs --cluster-etcd-ca"),
        ("etcds://u:p@a:1", StoreCredentials::default(), "give --cluster-etcd-user"),
        ("etcds://a:1", absent, "/nowhere/ca.pem: no certificate"),
        ("etcd://a:1", trusting(&pki), "write etcds://"),
        ("etcds://a:1", showing(&pki, &mixed), "KeyMismatch"),
        ("etcd://127.0.0.1:1,a:1", login(&pki, "a", "secret"), "would go to a:1 unencrypted"),
        ("etcd://127.0.0.1:1", empty, "the file is empty"),
    ];
    for (url, files, why) in cases {
        let error = client(url, files).map(drop).expect_err(why).to_string();
        assert!(error.to_lowercase().contains(&why.to_lowercase()), "{error}");
    }
}

#[test]
fn no_secret_is_printed() {
    let pki = Pki::new();
    let (own, login) = (pki.issue(&[], None), login(&pki, "a", "very-secret"));
    let files = StoreCredentials { user: login.user, password: login.password, ..showing(&pki, &own) };
    let etcd = client("etcds://a:1", files).expect("its files");
    etcd.session.note_token("token-of-a").expect("a token");
    let (text, key) = (format!("{etcd:?}"), std::fs::read_to_string(&own.key).expect("a key"));
    let secrets = ["very-secret", "token-of-a", key.lines().nth(1).expect("a line")];
    assert!(secrets.iter().all(|it| !text.contains(it)), "{text}");
}

/// A leader in this term, as far as etcd knows.
fn leading(etcd: &mut Etcd, term: Term) -> Writer {
    let writer = Writer { member: MemberId::new("a"), run: RunId(7) };
    patiently(|| etcd.put("leader", &leader_value(&writer.member, writer.run, term))).expect("a write");
    writer
}

fn write(term: Term, revision: u64, changes: &[(&str, Option<&str>)]) -> IntentRequest {
    let changes = changes.iter().map(|(key, value)| ((*key).to_owned(), value.map(str::to_owned)));
    IntentRequest::Write { term, revision, changes: changes.collect() }
}

#[test]
fn intents_are_written_by_the_leader_alone_and_only_if_nobody_has_written_since() {
    let Some(server) = Server::start(Vec::new()) else { return };
    let mut etcd =
        client(&format!("etcd://{}", server.endpoint()), StoreCredentials::default()).expect("no files");
    let term = Term(5);
    let writer = leading(&mut etcd, term);
    let mut ask = |request| etcd.intents(&writer, request, 10).expect("an answer");
    assert_eq!(ask(IntentRequest::Read), IntentAnswer::View(IntentView::default()));
    let IntentAnswer::Written(first) = ask(write(term, 0, &[("1", Some("x")), ("2", Some("y"))])) else {
        panic!("it leads, and nobody has written")
    };
    assert_eq!(ask(write(term, 0, &[("3", Some("late"))])), IntentAnswer::Refused, "somebody has written");
    assert_eq!(ask(write(Term(4), first, &[("3", Some("old"))])), IntentAnswer::Refused, "another term");
    let IntentAnswer::Written(second) = ask(write(term, first, &[("1", None)])) else { panic!("it leads") };
    let entries = Entries::from([("2".to_owned(), "y".to_owned())]);
    let view = IntentView { owner: Some((term, second)), entries };
    assert_eq!(ask(IntentRequest::Read), IntentAnswer::View(view));
}

#[test]
fn damaged_keys_of_the_election_are_named() {
    let Some(server) = Server::start(Vec::new()) else { return };
    let mut etcd =
        client(&format!("etcd://{}", server.endpoint()), StoreCredentials::default()).expect("no files");
    leading(&mut etcd, Term(5));
    etcd.put("term", "5").expect("a write");
    assert_eq!(etcd.check_election(), Ok(None));
    etcd.put("leader", "nonsense").expect("a write");
    assert_eq!(etcd.check_election(), Ok(Some("/braid/c/leader".to_owned())));
    etcd.put("term", "nonsense").expect("a write");
    assert_eq!(etcd.check_election(), Ok(Some("/braid/c/term".to_owned())));
}

#[test]
fn a_campaign_takes_the_place_of_the_leader_that_was_read_and_of_no_other() {
    let Some(server) = Server::start(Vec::new()) else { return };
    let mut etcd =
        client(&format!("etcd://{}", server.endpoint()), StoreCredentials::default()).expect("no files");
    let (member, run, ttl) = (MemberId::new("a"), RunId(7), Duration::from_secs(60));
    patiently(|| etcd.put("ready", "")).expect("a write");
    let [first, second] = [LeaseId(101), LeaseId(102)];
    for lease in [first, second] {
        assert_eq!(etcd.answer(&member, StoreRequest::Grant { lease, ttl }), Some(StoreAnswer::Done));
    }
    let mut campaign = |replaced, lease, (term, term_revision)| {
        let request = StoreRequest::Campaign { replaced, lease, run, term: Term(term), term_revision };
        etcd.answer(&member, request).expect("an answer")
    };
    let revision = |answer: &StoreAnswer| match answer {
        StoreAnswer::View(view) => view.term.map_or(0, |(_, revision)| revision),
        other => panic!("{other:?}"),
    };
    assert_eq!(campaign(None, first, (5, 0)), StoreAnswer::Won);
    let lost = campaign(None, second, (6, 0));
    let read = revision(&lost);
    assert_eq!(revision(&campaign(Some(LeaseId(9)), second, (6, read))), read, "that one does not lead");
    assert_eq!(revision(&campaign(Some(first), second, (6, read - 1))), read, "that was before");
    assert_eq!(campaign(Some(first), second, (6, read)), StoreAnswer::Won);
    let StoreAnswer::View(view) = campaign(Some(first), second, (7, read)) else { panic!("a view") };
    let leads = view.leader.map(|leader| (leader.term, leader.lease));
    assert_eq!(leads, Some((Term(6), second)));
}
