"""An etcd for the check of clusters: in memory, over TLS with client certificates, with a user and a password.

    store.py users ENDPOINT FOLDER

Called so, it makes etcd ask for users, with the certificates of FOLDER; for that it runs where etcd listens.
"""

import base64
import json
import shutil
import ssl
import subprocess
import sys
import tempfile
import urllib.request
from pathlib import Path

ENDPOINT = "127.0.0.1:2379"
USER = "braid"
# Of nobody else: the folder lives as long as the check.
PASSWORDS = {"root": "password of root", USER: "password of braid"}


class Etcd:
    """One etcd, beside the switches."""

    def __init__(self, lab, log, members):
        self.lab = lab
        self.members = members
        self.log = log
        self.folder = Path(tempfile.mkdtemp(dir="/dev/shm"))
        self.process = None
        self.make_certificates()

    def options(self):
        """What a member is given to reach it."""
        files = {name: str(self.folder / name) for name in ["ca.pem", "client.pem", "client.key", "password"]}
        return (
            ["--cluster", f"etcds://{ENDPOINT}", "--cluster-etcd-ca", files["ca.pem"]]
            + ["--cluster-etcd-certificate", files["client.pem"], "--cluster-etcd-key", files["client.key"]]
            + ["--cluster-etcd-user", USER, "--cluster-etcd-password-file", files["password"]]
        )

    def member_options(self, name):
        """What a member is given to show who it is."""
        files = [str(self.folder / file) for file in [f"{name}.pem", f"{name}.key", "ca.pem"]]
        return ["--cluster-certificate", files[0], "--cluster-key", files[1], "--cluster-ca", files[2]]

    def start(self):
        tls = ["--client-cert-auth", "--trusted-ca-file", f"{self.folder}/ca.pem"]
        tls += ["--cert-file", f"{self.folder}/server.pem", "--key-file", f"{self.folder}/server.key"]
        self.process = subprocess.Popen(
            [self.lab.braid, "lab", "exec", self.lab.name, "--", "etcd", "--data-dir", f"{self.folder}/data", *tls]
            + ["--listen-client-urls", f"https://{ENDPOINT}", "--advertise-client-urls", f"https://{ENDPOINT}"]
            + ["--listen-peer-urls", "http://127.0.0.1:2380"],
            stdout=self.log, stderr=self.log,
        )
        self.lab.running.append(self.process)

    def enable_users(self):
        self.lab.ovs("python3", __file__, "users", ENDPOINT, str(self.folder))

    def stop(self):
        self.process.kill()
        self.process.wait()

    def wipe(self):
        """Forgets everything, its users as well."""
        shutil.rmtree(self.folder / "data", ignore_errors=True)

    def end(self):
        shutil.rmtree(self.folder, ignore_errors=True)

    def make_certificates(self):
        (self.folder / "password").write_text(PASSWORDS[USER] + "\n")
        (self.folder / "names").write_text("subjectAltName=IP:127.0.0.1\n")
        self.openssl("req", "-x509", *NEW_KEY, "-keyout", "ca.key", "-out", "ca.pem", "-days", "2", "-subj", "/CN=authority")
        # No common names: etcd takes none from clients that have passwords.
        subjects = {"server": "/O=check", "client": "/O=check"} | {member: f"/CN={member}" for member in self.members}
        for name, subject in subjects.items():
            self.openssl("req", *NEW_KEY, "-keyout", f"{name}.key", "-out", f"{name}.csr", "-subj", subject)
            self.openssl(
                "x509", "-req", "-in", f"{name}.csr", "-out", f"{name}.pem", "-days", "2", "-extfile", "names",
                "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial",
            )

    def openssl(self, *arguments):
        subprocess.run(["openssl", *arguments], cwd=self.folder, check=True, capture_output=True)


NEW_KEY = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]


def encode(text):
    return base64.b64encode(text.encode()).decode()


def enable_users(endpoint, folder):
    context = ssl.create_default_context(cafile=f"{folder}/ca.pem")
    context.load_cert_chain(f"{folder}/client.pem", f"{folder}/client.key")

    def call(method, **body):
        request = urllib.request.Request(f"https://{endpoint}/v3/auth/{method}", json.dumps(body).encode())
        urllib.request.urlopen(request, context=context, timeout=5).read()

    for name, password in PASSWORDS.items():
        call("user/add", name=name, password=password)
        call("role/add", name=name)
        call("user/grant", user=name, role=name)
    keys = {"key": encode("/braid/"), "range_end": encode("/braid0")}
    call("role/grant", name=USER, perm={"permType": "READWRITE", **keys})
    call("enable")


if __name__ == "__main__":
    enable_users(*sys.argv[2:])
