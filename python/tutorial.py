"""A tour of brio from Python, in cells: run it as a script, or cell by cell in an editor that knows
`# %%`.

    PYTHONPATH=python python3 python/tutorial.py
"""
# %% A scene is a file, the name of one that ships, or a dict. Nothing is written anywhere.
import tempfile

import brio
import numpy as np

print(
    f"brio {brio.version()} with {len(brio.integrators())} integrators; scenes:"
    f" {', '.join(brio.scenes()[:5])}, ..."
)
rope = {
    "time": {"h": 0.01},
    "integrator": "implicit-midpoint",
    "bodies": [
        {
            "name": "rope",
            "shape": {"type": "line", "length": 1, "cells": 20},
            "material": {"type": "hooke", "k": 500, "vertex_mass": 0.01},
            "fix": [{"vertices": [0]}],
        }
    ],
}
sim = brio.load(rope)

# %% Step it. Positions are arrays of n x 3; y is up.
sim.step(20)
x = sim.positions("rope")
print(f"t = {sim.time:.2f} s: the free end is at x = {x[-1, 0]:.3f} m, y = {x[-1, 1]:.3f} m")

# %% sim.q looks into the engine's memory: no copy, and it shows every step.
q = sim.q
before = q.copy()
sim.step()
print(f"the farthest that a coordinate went in a step: {np.abs(q - before).max() * 1000:.1f} mm")

# %% The ledger has energies and momenta. This integrator holds the energy but for a little.
now = sim.ledger()
print(
    f"kinetic {now.kinetic:.4f} J, potential {now.potential:.4f} J; the method itself added"
    f" {now.remainder:.1e} J"
)

# %% Take hold of the end, drag it up, let go. What the hand did is in the books.
with sim.grab_vertex(20, "rope") as hand:
    for height in np.linspace(x[-1, 1], 0.5, 50):
        hand.drag([0.5, height, 0])
        sim.step()
    print(f"the hand pulls with {np.linalg.norm(hand.now.force):.2f} N")
print(f"and has put in {sim.ledger().added:.4f} J")

# %% Go back in time: a copy of the state, and the same bits again.
state = sim.snapshot()
sim.step(10)
first = sim.q.copy()
sim.restore(state)
sim.step(10)
print("the same bits again:", first.tobytes() == sim.q.tobytes())

# %% Mistakes say what is wrong and where.
try:
    brio.parse(
        "bodies:\n  - shape: {type: bax}\n    material: {type: hooke}\n", name="mistake.yaml"
    )
except brio.Error as error:
    print("Error:", error)
try:
    sim.set_positions(np.zeros((3, 3)), "rope")
except ValueError as error:
    print("ValueError:", error)


# %% An energy of your own: springs that only pull. Give energies, gradients and Hessians of many elements at once.
@brio.energy(
    "string", fields={"k": brio.Field(500.0, "N/m", 0, 1e9, "Stiffness when it is stretched.")}
)
def string(e):
    """Springs that pull and never push."""
    d = e.x[:, 1] - e.x[:, 0]
    length = np.linalg.norm(d, axis=1)
    n = d / np.maximum(length, 1e-300)[:, None]
    stretch = np.maximum(length - e.size, 0)
    c = np.where(stretch > 0, e.values["k"] * e.weight, 0)
    across = c * stretch / np.maximum(length, 1e-300)
    K = (
        across[:, None, None] * np.eye(3)
        + (c - across)[:, None, None] * n[:, :, None] * n[:, None, :]
    )
    pull = (c * stretch)[:, None] * n
    return c / 2 * stretch**2, np.stack([-pull, pull], axis=1), np.block([[K, -K], [-K, K]])


slack = brio.load(rope, set={"bodies.0.material.type": "string"})
slack.step(100)
print(f"a rope of strings after 1 s: y = {slack.positions()[-1, 1]:.3f} m")


# %% An integrator of your own, over the primitive that all implicit methods share.
@brio.integrator("mine", order=1, traits=brio.Trait.IMPLICIT | brio.Trait.DISSIPATIVE)
def mine(s, h):
    """Backward Euler: q' = argmin 1/2 |q - (q + h v)|^2_M + h^2 P(q)."""
    q = s.minimise(s.q + h * s.v, s=h * h, time=s.time + h, h=h)
    s.accept(h, q, (q - s.q) / h)


for name in ("implicit-midpoint", "backward-euler", "mine"):
    with brio.load(rope, set={"integrator": name}) as trial:
        trial.step(100)
        print(f"{name:18s} total energy after 1 s: {trial.ledger().total:.6f} J")

# %% A run with its results in a folder, as `brio run` makes it, and the table of energies.
with tempfile.TemporaryDirectory() as folder:
    result = brio.run(rope, folder + "/rope", set={"time.end": 0.5})
    table = result.energy()
    print(
        f"{result.steps} steps; highest kinetic energy {table['kinetic'].max():.4f} J at t ="
        f" {table['time'][table['kinetic'].argmax()]:.2f} s"
    )

# %% One scene with several methods, through `brio compare`.
comparison = brio.compare(
    rope, ["backward-euler", "implicit-midpoint"], h=["1/100", "1/200"], set={"time.end": 0.5}
)
for trial in comparison["trials"]:
    print(
        f"{trial['integrator']:18s} h = {trial['h']:.4f} s: energy changes by"
        f" {trial['energy_change']:.2e} J"
    )
print("The end")
