"""A trust store for Java, made from the certificates that this machine's environment names.

Java reads neither SSL_CERT_FILE nor the system's bundle, so a proxy with a certificate of its own
would stop every download. The store holds public certificates only; its password protects nothing.
"""

from __future__ import annotations

import contextlib
import hashlib
import re
import warnings
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives.serialization import BestAvailableEncryption
from cryptography.hazmat.primitives.serialization.pkcs12 import (
    PKCS12Certificate,
    serialize_java_truststore,
)
from cryptography.utils import CryptographyDeprecationWarning

from waitlab import paths
from waitlab.services.fetching import certificate_bundle
from waitlab.services.folders import write_whole

_PASSWORD = "public"
_PEM = re.compile(rb"-----BEGIN CERTIFICATE-----.+?-----END CERTIFICATE-----", re.DOTALL)


def trust_options() -> list[str]:
    """Java options that trust the bundle named by the environment; none if no bundle is named."""
    bundle = certificate_bundle()
    if bundle is None:
        return []
    store = _trust_store(bundle.read_bytes())
    if store is None:
        return []
    return [
        f"-Djavax.net.ssl.trustStore={store}",
        f"-Djavax.net.ssl.trustStorePassword={_PASSWORD}",
        "-Djavax.net.ssl.trustStoreType=PKCS12",
    ]


def _trust_store(pem: bytes) -> Path | None:
    """The PKCS12 file for these certificates, made anew when they change; None if there are none."""
    store = paths.cache() / "trust" / f"{hashlib.sha256(pem).hexdigest()[:16]}.p12"
    if store.is_file():
        return store
    certificates = _certificates(pem)
    if not certificates:
        return None
    write_whole(store, serialize_java_truststore(certificates, BestAvailableEncryption(_PASSWORD.encode())))
    for old in store.parent.glob("*.p12"):
        if old != store:
            old.unlink(missing_ok=True)
    return store


def _certificates(pem: bytes) -> list[PKCS12Certificate]:
    """The certificates that can be read; a bundle may hold some that break today's rules."""
    found = []
    with warnings.catch_warnings(action="ignore", category=CryptographyDeprecationWarning):
        for block in dict.fromkeys(_PEM.findall(pem)):
            with contextlib.suppress(ValueError):
                found.append(x509.load_pem_x509_certificate(block))
    return [PKCS12Certificate(each, f"certificate {n}".encode()) for n, each in enumerate(found, 1)]
