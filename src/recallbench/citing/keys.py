"""Ed25519 keys for attestations. Private ones are kept away from results."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from recallbench.errors import InputError, UsageError
from recallbench.extras import require
from recallbench.results.folder import is_result
from recallbench.whole_file import PRIVATE, refuse_shared, write_errors, write_whole

PUBLIC = ".pub"
_LARGEST = 1 << 16


def needs_extra() -> Any:
    """Return the signing library's module; raises Blocked where the extra is not installed."""
    require("attest", "an attestation")
    from securesystemslib import signer

    return signer


def make(name: Path) -> tuple[Path, Path]:
    """Write a new private key, which its owner alone may read, and the public one beside it; overwrites nothing."""
    signer = needs_extra()
    if not name.name or name.suffix == PUBLIC:
        raise UsageError(
            f"{str(name)!r} can't be the name of a private key",
            expected=f"a file's name without {PUBLIC}: that is how the public one is called",
            found=str(name),
            remedy="recallbench keys ~/.config/recallbench/release",
        )
    private, public = name, name.with_name(name.name + PUBLIC)
    refuse_near_results(private)
    for path in (private, public):
        if path.exists() or path.is_symlink():
            raise UsageError(
                f"{path} exists already",
                expected="a name that is free: a key is never overwritten",
                remedy="name another file",
            )
    key = signer.CryptoSigner.generate_ed25519()
    _write(private, key.private_bytes, PRIVATE)
    try:
        _write(public, _public_bytes(key.private_bytes), 0o644)
    except BaseException:
        private.unlink(missing_ok=True)
        raise
    return private, public


def private_key(path: Path) -> Any:
    """Return the key to sign with; one that others may read, or that lies near results, is refused."""
    signer = needs_extra()
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    content = _content(path)
    refuse_near_results(path)
    if b"PUBLIC KEY" in content:
        raise _no_key(path, "the private key, which signs", "a public key")
    refuse_shared(path, "private key", "if others could have read it, make a new one with `recallbench keys`")
    try:
        key = load_pem_private_key(content, None)
    except (ValueError, TypeError, ArithmeticError) as error:
        raise _no_key(
            path, "an Ed25519 private key without a passphrase, as `recallbench keys` makes it", error
        ) from None
    if not isinstance(key, Ed25519PrivateKey):
        raise _no_key(path, "an Ed25519 private key", type(key).__name__)
    return signer.CryptoSigner(key)


def public_key(path: Path) -> Any:
    """Return the key to verify with."""
    signer = needs_extra()
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    from cryptography.hazmat.primitives.serialization import load_pem_public_key

    content = _content(path)
    if b"PRIVATE KEY" in content:
        raise _no_key(path, f"the public key, {path.name}{PUBLIC}", "a private key, which nobody needs to verify")
    try:
        key = load_pem_public_key(content)
    except (ValueError, TypeError, ArithmeticError) as error:
        raise _no_key(path, "an Ed25519 public key, as `recallbench keys` makes it", error) from None
    if not isinstance(key, Ed25519PublicKey):
        raise _no_key(path, "an Ed25519 public key", type(key).__name__)
    return signer.SSlibKey.from_crypto(key)


def refuse_near_results(path: Path) -> None:
    """Raise UsageError for a private key in, below, beside or right above results: it would be published."""
    folder = path.resolve().parent
    near = next((above for above in (folder, *folder.parents) if above.name == "results" or is_result(above)), None)
    if near is None and _holds_results(folder):
        near = folder
    if near is not None:
        raise UsageError(
            f"{path}: a private key does not belong near a result",
            expected="a place that is never published, such as ~/.config/recallbench/",
            found=f"it would lie in {near}",
            remedy="keep the key elsewhere",
        )


def _public_bytes(private: bytes) -> bytes:
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat, load_pem_private_key

    return (
        load_pem_private_key(private, None).public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    )


def _holds_results(folder: Path) -> bool:
    """Return whether results lie in the folder, or in a `results` of it."""
    try:
        inside = [child for parent in (folder, folder / "results") if parent.is_dir() for child in parent.iterdir()]
        return any(map(is_result, inside))
    except OSError:
        return False


def _write(path: Path, content: bytes, mode: int) -> None:
    with write_errors(
        f"{path} can't be written",
        expected="a new file in a folder that may be written to",
        remedy="name another place",
    ):
        write_whole(path, content, overwrite=False, mode=mode, synced=True)


def _content(path: Path) -> bytes:
    try:
        if not path.is_file():
            raise _no_key(path, "a key file", "a folder or special file" if path.exists() else "no such file")
        with path.open("rb") as file:
            return file.read(_LARGEST)
    except OSError as error:
        raise _no_key(path, "a readable key file", error.strerror or str(error)) from None


def _no_key(path: Path, expected: str, found: object) -> InputError:
    return InputError(
        f"{path} can't be used as a key",
        expected=expected,
        found=str(found).splitlines()[0] if str(found) else type(found).__name__,
        remedy="make a pair with `recallbench keys NAME`: NAME signs, NAME.pub verifies",
    )
