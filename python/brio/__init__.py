"""brio: simulation of soft bodies, cloth and contact.

>>> import brio
>>> with brio.load("cloth") as sim:
...     sim.step(10)
...     x = sim.positions("cloth")
>>> x.shape
(289, 3)

``load``, ``parse`` and ``open_run`` make a ``Sim``; ``run`` and ``compare`` write results into a
folder; ``energy`` and ``integrator`` register functions of yours. What
goes wrong is a ``brio.Error``; arrays of a wrong shape are a ``ValueError``. docs/python.md tells
more, python/tutorial.py shows it.
"""
from ._library import Error, Status  # before numpy: it names the kernels of OpenBLAS

try:
    import numpy as _numpy  # noqa: F401
except ModuleNotFoundError:
    raise ModuleNotFoundError(
        (
            "brio needs numpy, which this Python does not have: apt-get install python3-numpy, or:"
            " pip install numpy"
        ),
        name="numpy",
    ) from None
from ._build import Builder  # isort: skip
from ._edit import Edit
from ._forces import force, law, load_plugin
from ._own import Elements, Field, Rejected, Stepper, Trait, energy, integrator
from ._results import Run, Trajectory
from ._run import (
    Progress,
    RunResult,
    command,
    compare,
    forces,
    integrators,
    isa,
    laws,
    materials,
    program,
    read_energy,
    run,
    scenes,
    set_log,
    set_threads,
    threads,
    version,
)
from ._sim import (
    Attachment,
    Contact,
    Hand,
    Iteration,
    Ledger,
    Matrix,
    Sim,
    State,
    load,
    open_run,
    parse,
)

__version__ = version()
__all__ = [
    "Attachment",
    "Builder",
    "Contact",
    "Edit",
    "Elements",
    "Error",
    "Field",
    "Hand",
    "Iteration",
    "Ledger",
    "Matrix",
    "Progress",
    "Rejected",
    "Run",
    "RunResult",
    "Sim",
    "State",
    "Status",
    "Stepper",
    "Trait",
    "Trajectory",
    "command",
    "compare",
    "energy",
    "force",
    "forces",
    "integrator",
    "integrators",
    "isa",
    "law",
    "laws",
    "load",
    "load_plugin",
    "materials",
    "open_run",
    "parse",
    "program",
    "read_energy",
    "run",
    "scenes",
    "set_log",
    "set_threads",
    "threads",
    "version",
]
