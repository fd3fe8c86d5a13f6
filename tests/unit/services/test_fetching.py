"""What is fetched is what was meant, and a failure leaves nothing behind."""

import errno
import hashlib
import os

import pytest
import requests
from waitlab.errors import BuildError
from waitlab.services import fetching, postgres_binaries, trust

CONTENT = b"content"
THING = fetching.Artifact("A thing", "g", "a", "1", "jar", 1, hashlib.sha256(CONTENT).hexdigest())


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    folder = tmp_path / "cache"
    monkeypatch.setenv("WAITLAB_CACHE", str(folder))
    for name in ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"):
        monkeypatch.delenv(name, raising=False)
    return folder


@pytest.fixture
def resolve(monkeypatch):
    """Puts a function in the place of the download; it gets the folder and returns the file."""
    from jgo.maven import Artifact

    def put(function):
        monkeypatch.setattr(Artifact, "resolve", lambda self: function(self.context.repo_cache))

    return put


def arrives(content):
    def download(folder):
        (folder / "file").write_bytes(content)
        return folder / "file"

    return download


def fails(error):
    def download(_folder):
        raise error

    return download


def test_the_file_is_there_for_the_block_only(resolve, cache):
    resolve(arrives(CONTENT))
    said = []
    with fetching.fetched(THING, said.append) as file:
        assert file.read_bytes() == CONTENT
    assert said == ["Fetching A thing (1 MB)"]
    assert list(cache.iterdir()) == []


@pytest.mark.parametrize("content", [b"", b"conten", b"<html>log in first</html>"])
def test_another_content_is_thrown_away(resolve, cache, content):
    resolve(arrives(content))
    with pytest.raises(BuildError, match="arrived damaged"), fetching.fetched(THING, lambda _: None):
        pass
    assert list(cache.iterdir()) == []


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (requests.exceptions.SSLError("bad certificate"), "certificate of the other side"),
        (requests.exceptions.ConnectionError("nobody there"), "the network did not answer"),
        (requests.exceptions.ReadTimeout("too slow"), "the network did not answer"),
        (RuntimeError("not found in {'central': 'https://x.example'}"), "the network did not answer"),
        (OSError(errno.ENOSPC, "No space left on device"), "the disk is full"),
    ],
)
def test_each_failure_names_what_was_fetched(resolve, cache, error, words):
    resolve(fails(error))
    with pytest.raises(BuildError, match="A thing could not be") as caught, fetching.fetched(THING, print):
        pass
    assert words in str(caught.value)
    assert "://" not in str(caught.value)
    assert list(cache.iterdir()) == []


def test_the_bundle_is_lent_and_taken_back(resolve, tmp_path, monkeypatch):
    bundle = tmp_path / "bundle.pem"
    bundle.touch()
    monkeypatch.setenv("SSL_CERT_FILE", str(bundle))
    seen = []
    resolve(lambda folder: seen.append(os.environ["REQUESTS_CA_BUNDLE"]) or arrives(CONTENT)(folder))
    with fetching.fetched(THING, lambda _: None):
        assert seen == [str(bundle)]
        assert "REQUESTS_CA_BUNDLE" not in os.environ


def test_no_bundle_no_trust_store():
    assert trust.trust_options() == []


def test_the_trust_store_is_made_once_and_anew_when_the_bundle_changes(tmp_path, monkeypatch, cache):
    bundle = tmp_path / "bundle.pem"
    first, second = make_certificate("one"), make_certificate("two")
    bundle.write_bytes(first)
    monkeypatch.setenv("SSL_CERT_FILE", str(bundle))
    options = trust.trust_options()
    (store,) = (cache / "trust").iterdir()
    assert options[0] == f"-Djavax.net.ssl.trustStore={store}"
    assert trust.trust_options() == options
    bundle.write_bytes(first + second + b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n")
    assert trust.trust_options() != options
    assert len(list((cache / "trust").iterdir())) == 1


@pytest.mark.parametrize("machine", [("Linux", "x86_64"), ("Linux", "aarch64"), ("Darwin", "arm64")])
def test_each_platform_has_its_postgres(machine):
    artifact = postgres_binaries._artifact(*machine)
    assert artifact.name.startswith("embedded-postgres-binaries-")
    assert len(artifact.sha256) == 64


def test_a_platform_without_postgres_is_a_sentence():
    with pytest.raises(BuildError, match="Found: Linux on riscv64"):
        postgres_binaries._artifact("Linux", "riscv64")


def make_certificate(name: str) -> bytes:
    import datetime

    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
    now = datetime.datetime.now(datetime.UTC)
    builder = x509.CertificateBuilder().subject_name(subject).issuer_name(subject).public_key(key.public_key())
    builder = builder.serial_number(1).not_valid_before(now).not_valid_after(now + datetime.timedelta(days=1))
    return builder.sign(key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)
