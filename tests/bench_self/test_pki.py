"""Certificates of the bench's authority, used as TLS uses them."""

import socket
import ssl
import threading

import pytest
from cryptography import x509
from cryptography.x509.oid import NameOID

from tests.bench.pki import Authority


@pytest.fixture
def authority(tmp_path):
    return Authority(tmp_path / "pki")


def handshake(authority, server, host, client=None):
    """Give the name that the server saw in the client's certificate."""
    here = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    here.load_cert_chain(*server)
    there = ssl.create_default_context(cafile=authority.ca_file)
    # What Python 3.13 does by itself.
    there.verify_flags |= ssl.VERIFY_X509_STRICT
    if client:
        here.load_verify_locations(authority.ca_file)
        here.verify_mode = ssl.CERT_REQUIRED
        there.load_cert_chain(*client)
    seen = []

    def serve(listener):
        accepted, _ = listener.accept()
        try:
            with here.wrap_socket(accepted, server_side=True) as tls:
                seen.append(tls.getpeercert())
                tls.recv(1)
        except (ssl.SSLError, ConnectionError):
            accepted.close()

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=serve, args=(listener,))
        thread.start()
        try:
            with (
                socket.create_connection(listener.getsockname()) as raw,
                there.wrap_socket(raw, server_hostname=host) as tls,
            ):
                tls.send(b"x")
        finally:
            thread.join()
    return dict(pair for (pair,) in seen[0]["subject"]) if client else None


def test_server_and_client_know_each_other(authority):
    server = authority.issue("api", ips=("127.0.0.1",), dns=("api",), server=True)
    client = authority.issue("system:node:a", organization="system:nodes", client=True)
    for host in ("127.0.0.1", "api"):
        assert handshake(authority, server, host, client) == {
            "organizationName": "system:nodes",
            "commonName": "system:node:a",
        }


@pytest.mark.parametrize("host", ["127.0.0.2", "other"])
def test_a_server_is_trusted_under_its_own_names_only(authority, host):
    server = authority.issue("api", ips=("127.0.0.1",), dns=("api",), server=True)
    with pytest.raises(ssl.SSLCertVerificationError, match=r"mismatch|not valid for"):
        handshake(authority, server, host)


def test_a_client_certificate_is_no_server(authority):
    pair = authority.issue("api", dns=("api",), client=True)
    with pytest.raises(ssl.SSLCertVerificationError, match="purpose"):
        handshake(authority, pair, "api")


def test_keys_are_for_their_owner_only(authority, tmp_path):
    authority.issue("system:node:a", client=True)
    authority.token_keys()
    keys = sorted((tmp_path / "pki").glob("*.key"))
    assert [key.name for key in keys] == ["ca.key", "sa.key", "system-node-a.key"]
    assert {oct(key.stat().st_mode & 0o777) for key in keys} == {"0o600"}


def test_two_authorities_do_not_trust_each_other(authority, tmp_path):
    other = Authority(tmp_path / "other")
    with pytest.raises(ssl.SSLCertVerificationError):
        handshake(authority, other.issue("api", dns=("api",), server=True), "api")


def test_the_common_name_is_the_users_name(authority):
    pair = authority.issue("admin", client=True)
    certificate = x509.load_pem_x509_certificate(pair.certificate.read_bytes())
    (name,) = certificate.subject.get_attributes_for_oid(NameOID.COMMON_NAME)
    assert name.value == "admin"
