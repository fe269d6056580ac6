# %% [markdown]
# # Your first soft body
# A rubber cube falls on a floor. You will look at it, run it, read its motion as arrays, and make
# it from arrays of your own. Run the cells from top to bottom. As a script:
# `python3 first_soft_body.py`.

# %%
import tempfile

import brio
import numpy as np

try:  # in a notebook: show it in the middle of a cell
    display  # type: ignore[name-defined,used-before-def]
except NameError:
    display = print

# %% [markdown]
# ## A scene
# A scene is a file, the name of one that ships with brio (`brio.scenes()`), or a dict like this.
# Units are SI: metres, seconds, kilograms. y is up. What you leave out is chosen for you.

# %%
scene = {
    "time": {"h": 1 / 120, "end": 1.0, "fps": 30},
    "integrator": "backward-euler",
    "contact": {"type": "ipc", "mu": 0.3},
    "bodies": [
        {
            "name": "cube",
            "shape": {"type": "box", "size": [0.1, 0.1, 0.1], "cells": [4, 4, 4]},
            "material": {"type": "neo-hookean", "E": 5e4, "nu": 0.4, "rho": 1000},
            "transform": {"rotate": [[1, 0, 1], 35], "translate": [0, 0.3, 0]},
        }
    ],
    "obstacles": [{"type": "plane", "point": [0, 0, 0], "normal": [0, 1, 0]}],
}
sim = brio.load(scene)
display(sim)

# %% [markdown]
# In a notebook you see the cube above: turn it with the mouse, zoom with the wheel.
#
# ## Step it
# `sim.positions` gives an array of n x 3. The ledger has the energies.

# %%
for _ in range(4):
    sim.step(10)
    x, now = sim.positions("cube"), sim.ledger()
    print(
        f"t = {sim.time:.3f} s: lowest vertex at {x[:, 1].min():.4f} m, "
        f"kinetic {now.kinetic:.3f} J, elastic {now.elastic:.4f} J, {now.contacts} contacts"
    )

# %% [markdown]
# ## A run
# `brio.run` does all steps and writes the results into a folder: tables, motion, checkpoint. A bar
# shows how far it is. In a notebook, a `Run` shows its report: the motion in 3D, energies,
# momenta, timings.

# %%
folder = tempfile.mkdtemp() + "/cube"
brio.run(scene, folder)
run = brio.Run(folder)
display(run)

# %% [markdown]
# The motion is a trajectory, read from the file when you ask for it. The table of energies is a
# pandas DataFrame, or a structured array where there is no pandas.

# %%
motion = run["cube"]
lowest = [x[:, 1].min() for x in motion]
print(f"{motion!r}: never below {min(lowest) * 1000:.2f} mm")
table = run.energy()
print(f"most energy in contacts: {np.max(table['contact']):.2e} J")
assert min(lowest) > 0  # nothing passes through the floor

# %% [markdown]
# ## Keep the life in it
# Backward Euler takes energy out of the motion. `a-search` keeps it. `set` changes a scene as
# `--set` of the command line does.

# %%
for integrator in ("backward-euler", "a-search"):
    with brio.load(scene, set={"integrator": integrator}) as trial:
        start = trial.ledger().total
        trial.step(120)
        end = trial.ledger()
        heights = trial.positions()[:, 1]
        print(
            f"{integrator:15s} after {trial.time:.2f} s: energy {start:.3f} -> {end.total:.3f} J, "
            f"centre at {heights.mean():.3f} m"
        )

# %% [markdown]
# ## From arrays
# `brio.Builder` takes vertices and tets from your own program. A strip of tets, fixed at its left
# end, bends under its weight; then a hand pulls at it.

# %%
build = brio.Builder(gravity=[0, -9.8, 0])
n = 12
grid = np.array(
    [[i * 0.02, j * 0.02, k * 0.02] for i in range(n + 1) for j in (0, 1) for k in (0, 1)]
)
corner = np.arange(4 * n).reshape(n, 4)
a, b, c, d = corner.T
e, f, g, h = a + 4, b + 4, c + 4, d + 4
tets = np.concatenate(
    [
        np.stack(t, axis=1)
        for t in ((a, e, g, f), (a, g, c, d), (a, f, d, b), (f, g, d, h), (a, g, d, f))
    ]
)
turned = np.linalg.det(grid[tets[:, 1:]] - grid[tets[:, :1]]) < 0  # tets count positively
tets[turned] = tets[turned][:, [0, 2, 1, 3]]
strip = build.body(grid, tets=tets, material={"type": "neo-hookean", "E": 2e5}, name="strip")
build.fix(strip, [0, 1, 2, 3])
build.damping("rayleigh", beta=0.02)
beam = build.sim("bdf2", h=0.01)
beam.settle()
print(f"the strip hangs {-1000 * beam.positions()[-1, 1]:.1f} mm low")
with beam.grab_vertex(len(grid) - 1, strip, k=50) as hand:
    hand.drag([0.2, 0.1, 0])
    beam.step(50)
    print(f"the hand pulls with {np.linalg.norm(hand.now.force):.2f} N")
display(beam)

# %% [markdown]
# Next: `own_integrator.ipynb`, or the manual (docs/python.md). `help(brio)` has all of it.

# %%
print("The end")
