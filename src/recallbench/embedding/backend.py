"""Which backend embeds: OpenVINO on a CPU where it is faster and proven, else torch on the device that is there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from recallbench.embedding import machine
from recallbench.embedding.embedder import Backend
from recallbench.embedding.memo import Memo
from recallbench.embedding.proof import Proof, Proofs
from recallbench.errors import Blocked

OPENVINO = "openvino/cpu"


def choose_backend(
    asked: Backend, environ: Mapping[str, str], memo: Memo, weights: Sequence[Mapping[str, str]]
) -> tuple[str, str]:
    """The backend, and a note where the user should know why. `weights`: the identities of all that would be loaded."""
    versions = machine.library_versions()
    if asked == "openvino" and not versions["openvino"]:
        raise Blocked("OpenVINO is not installed", remedy="pip install openvino, or --backend torch")
    device = machine.likely_device(environ)
    if device != "cpu" and memo.recall(absence(device)):
        device = "cpu"
    if asked == "torch" or (asked == "auto" and device != "cpu"):
        return f"torch/{device}", ""
    if asked == "auto" and not (versions["openvino"] and machine.has_avx512()):
        return "torch/cpu", ""
    proofs = [proof for proof in map(Proofs(memo).recall, weights) if proof and not proof.equal]
    if proofs:
        return "torch/cpu", failure_note(proofs[0])
    return OPENVINO, ""


def failure_note(proof: Proof) -> str:
    """What a failed proof means, in a sentence."""
    if proof.worst_cosine is None:
        return f"OpenVINO can't run this encoder on this machine ({proof.fault}): torch was used"
    worst = f"worst cosine {proof.worst_cosine:.7f}"
    return f"OpenVINO does not give torch's vectors on this machine ({worst}): torch was used"


def absence(device: str) -> dict[str, str]:
    """The memo's key for a device that torch turned out not to have."""
    return {"what": "torch finds no such device", "device": device, "torch": machine.library_versions()["torch"]}
