//! `braid controller run --openflow-tls`: mistakes in its options.

mod support;

use support::{run, text};

#[test]
fn tls_without_certificates_is_a_mistake_that_names_the_options() {
    let output = run(&["controller", "run", "--openflow", "127.0.0.1:0", "--openflow-tls", "required"]);
    assert_eq!(output.status.code(), Some(2));
    let said = text(&output.stderr);
    assert!(said.contains("--openflow-tls-certificate") && said.contains("docs/security.md"), "{said}");
    let output = run(&["controller", "run", "--openflow-tls", "perhaps"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("required, optional, off"));
}

#[test]
fn a_controller_at_ssl_needs_a_certificate_of_the_edge() {
    let output = run(&["edge", "run", "--port", "no-such-port", "--controller", "ssl:controller"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("ssl:ADDRESS:PORT"), "{}", text(&output.stderr));
}
