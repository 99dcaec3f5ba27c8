"""What a worker accepts of a message: the broker is not trusted to choose programs or sandboxes."""

from __future__ import annotations

from dataclasses import replace

from workers.bundles.samples import sample_hashes
from workers.jobs import ComplianceJob, EngineSpec, GameJob, JobError


def vet_job(job: GameJob) -> GameJob:
    """The job as this worker plays it; raises ``JobError`` if it names anything but bundles."""
    one, two = job.engines
    return replace(job, engines=(_vetted(one), _vetted(two)))


def vet_check(job: ComplianceJob) -> ComplianceJob:
    """The compliance check as this worker runs it; raises ``JobError`` if it names anything but a bundle."""
    return replace(job, engine=_vetted(job.engine))


def _vetted(spec: EngineSpec) -> EngineSpec:
    """Accepts bundles only, and trusts only the sample bots of this installation."""
    if spec.directory is not None:
        raise JobError("EngineSpec.directory: a worker runs bundles only, not folders of its machine")
    if spec.bundle is None:
        raise JobError("EngineSpec.bundle is missing: a worker runs bundles only")
    return replace(spec, trusted=spec.bundle in sample_hashes())
