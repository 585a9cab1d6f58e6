"""One certificate authority for everything that the bench starts."""

import datetime as dt
import ipaddress
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

_LIFETIME = dt.timedelta(days=30)
_CLOCK_SKEW = dt.timedelta(minutes=5)


class KeyPair(NamedTuple):
    """Two PEM files."""

    certificate: Path
    key: Path


class Authority:
    """Signs with an EC key that lives as long as the bench's folder."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "argocd-fluid-bench")])
        certificate = (
            _builder(self._name, self._name, self._key.public_key())
            .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
            .add_extension(_usage(signs=True), critical=True)
            .add_extension(
                x509.SubjectKeyIdentifier.from_public_key(self._key.public_key()), critical=False
            )
            .sign(self._key, hashes.SHA256())
        )
        self.ca_pem = certificate.public_bytes(serialization.Encoding.PEM)
        self.ca_file = folder / "ca.crt"
        self.ca_file.write_bytes(self.ca_pem)
        self.ca_key_file = _write_key(folder / "ca.key", self._key)

    def issue(
        self,
        common_name: str,
        *,
        organization: str | None = None,
        dns: Sequence[str] = (),
        ips: Sequence[str] = (),
        server: bool = False,
        client: bool = False,
        file_name: str = "",
    ) -> KeyPair:
        """Sign a certificate; the files are named after the common name unless told otherwise."""
        key = ec.generate_private_key(ec.SECP256R1())
        names = [x509.NameAttribute(NameOID.COMMON_NAME, common_name)]
        if organization:
            names.insert(0, x509.NameAttribute(NameOID.ORGANIZATION_NAME, organization))
        builder = _builder(x509.Name(names), self._name, key.public_key())
        builder = builder.add_extension(_usage(signs=False), critical=True)
        # Python 3.13 refuses a certificate that does not name its issuer's key.
        issuer = x509.AuthorityKeyIdentifier.from_issuer_public_key(self._key.public_key())
        builder = builder.add_extension(issuer, critical=False)
        purposes = [
            purpose
            for purpose, wanted in (
                (ExtendedKeyUsageOID.SERVER_AUTH, server),
                (ExtendedKeyUsageOID.CLIENT_AUTH, client),
            )
            if wanted
        ]
        builder = builder.add_extension(x509.ExtendedKeyUsage(purposes), critical=False)
        if alternatives := _alternatives(dns, ips):
            builder = builder.add_extension(alternatives, critical=False)
        certificate = builder.sign(self._key, hashes.SHA256())
        stem = file_name or common_name.replace(":", "-")
        path = self._folder / f"{stem}.crt"
        path.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
        return KeyPair(path, _write_key(self._folder / f"{stem}.key", key))

    def token_keys(self) -> KeyPair:
        """RSA keys for service account tokens: public key, private key."""
        key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        public = self._folder / "sa.pub"
        public.write_bytes(
            key.public_key().public_bytes(
                serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
            )
        )
        return KeyPair(public, _write_key(self._folder / "sa.key", key))


def _builder(
    subject: x509.Name, issuer: x509.Name, public_key: ec.EllipticCurvePublicKey
) -> x509.CertificateBuilder:
    now = dt.datetime.now(dt.UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(public_key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - _CLOCK_SKEW)
        .not_valid_after(now + _LIFETIME)
    )


def _usage(*, signs: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=True,
        key_cert_sign=signs,
        crl_sign=signs,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )


def _alternatives(dns: Sequence[str], ips: Sequence[str]) -> x509.SubjectAlternativeName | None:
    names: list[x509.GeneralName] = [x509.DNSName(name) for name in dns]
    names += [x509.IPAddress(ipaddress.ip_address(ip)) for ip in ips]
    return x509.SubjectAlternativeName(names) if names else None


def _write_key(path: Path, key: ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey) -> Path:
    path.touch(mode=0o600)
    path.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.TraditionalOpenSSL,
            serialization.NoEncryption(),
        )
    )
    return path
