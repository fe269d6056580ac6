# %% [markdown]
# # Your own integrator against thirty
# You write a time integration method in a few lines of Python, and brio compares it with all that
# it has: energy, error, cost. As a script: `python3 own_integrator.py`.

# %%
import brio
import numpy as np

# %% [markdown]
# ## The method
# Implicit methods share one primitive, `minimise`: the q' that minimises
#
#     1/2 |q' - target|^2_M + s P(a q' + (1 - a) q)
#
# where P is the potential of everything: materials, weight, contact. Backward Euler has
# target = q + h v, s = h^2, a = 1. The implicit midpoint rule has a = 1/2. Here is a method in
# between, with a parameter b: b = 0 keeps energy, b > 0 calms what vibrates too fast for the step.

# %%
TRAITS = brio.Trait.IMPLICIT | brio.Trait.KEEPS_LINEAR_MOMENTUM


@brio.integrator(
    "between", order=1, traits=TRAITS, fields={"b": brio.Field(0.02, "", 0, 0.5, "Calms.")}
)
def between(s, h):
    """Between the midpoint rule (b = 0) and backward Euler (b = 1/2)."""
    a = 0.5 + s.value("b")
    q = s.minimise(s.q + h * s.v, s=h * h, a=a, time=s.time + h, h=h)
    s.accept(h, q, (q - s.q) / (a * h) - (1 - a) / a * s.v)


# %% [markdown]
# `accept` ends the step. If a solve fails, brio tries the step again in halves: your function is
# called with a smaller h. Run the cell again after a change, and the new function is taken.
#
# ## The scene
# A soft bar, fixed at one end, swings under its weight. Short, so that all of this takes seconds.

# %%
scene = {
    "time": {"h": 1 / 60, "end": 0.5},
    "bodies": [
        {
            "name": "bar",
            "shape": {"type": "box", "size": [0.4, 0.05, 0.05], "cells": [8, 1, 1]},
            "material": {"type": "neo-hookean", "E": 1e5, "nu": 0.3, "rho": 1000},
            "fix": [{"box": [[-1, -1, -1], [-0.199, 1, 1]]}],
        }
    ],
}
with brio.load(scene, set={"integrator": "between"}) as sim:
    start = sim.ledger().total
    sim.step(30)
    print(
        f"{sim.time:.2f} s with {sim.integrator}: energy changes by"
        f" {sim.ledger().total - start:.2e} J"
    )

# %% [markdown]
# The same method is in brio under another name. Do they agree?

# %%
ends = []
for integrator in ({"type": "between", "b": 0.1}, {"type": "theta", "theta": 0.6}):
    with brio.load(scene, set={"integrator": integrator}) as sim:
        sim.step(30)
        ends.append(sim.positions())
apart = np.abs(ends[0] - ends[1]).max()
print(f"theta and yours are {apart:.1e} m apart")
assert apart < 1e-9

# %% [markdown]
# ## Against all the others
# `brio.compare` runs one scene with many methods. If the scene does not support a method, or if it
# explodes or fails, its row has the reason. The error is the distance from a run with very short
# steps.

# %%
everybody = [name for name in brio.integrators() if name != "static"]
table = brio.compare(scene, everybody, reference="trapezoidal@1/2000")
rows = [trial for trial in table["trials"] if not trial["reference"]]
done = sorted(
    (row for row in rows if row["outcome"] == "completed"), key=lambda row: row["position_error"]
)
print(f"{len(rows)} methods, {len(done)} complete with h = 1/60 s")
print(f"{'method':24s} {'error (mm)':>10s} {'energy (J)':>12s} {'ms per step':>10s}")
for row in done:
    mark = "  <- yours" if row["integrator"] == "between" else ""
    print(
        f"{row['integrator']:24s} {1000 * row['position_error']:10.3f} {row['energy_change']:12.2e} "
        f"{row['ms_per_step']:10.2f}{mark}"
    )
for row in rows:
    if row["outcome"] != "completed":
        print(f"{row['integrator']:24s} {row['outcome']}: {row['reason'][:70]}")
assert len(rows) >= 30 and any(row["integrator"] == "between" for row in done)

# %% [markdown]
# ## Its order
# Three step sizes tell how fast a method converges. With b = 0 yours is of second order.

# %%
short = {"time.end": 0.1, "solver": {"tol": 1e-11}}
pair = [{"type": "between", "b": 0}, {"type": "between", "b": 0.3}, "backward-euler"]
table = brio.compare(scene, pair, h=["1/400", "1/800", "1/1600"], set=short)
orders = {}
for trial in table["trials"]:
    if trial["order"] is not None:
        orders[trial["set"]] = trial["order"]
for name, order in orders.items():
    print(f"{name}: order {order:.2f}")

# %% [markdown]
# ## A contact law and a force of yours
# They are registered the same way, and every command knows them.

# %%


@brio.law("inverse", unbounded=True)
def inverse(gap, kappa, dhat):
    """b = kappa dhat^2 (1/u - 1 + ln u) with u = gap/dhat."""
    u = gap / dhat
    energy = kappa * dhat**2 * (1 / u - 1 + np.log(u))
    return energy, kappa * dhat * (1 / u - 1 / u**2), kappa * (2 / u**3 - 1 / u**2)


@brio.force("swirl", fields={"strength": brio.Field(0.02, "N", -1e9, 1e9, "Largest force.")})
def swirl(x, v, time, values):
    """Around the vertical axis."""
    return values["strength"] * np.stack([x[:, 2], 0 * x[:, 0], -x[:, 0]], axis=1)


ball = {
    "time": {"h": 1 / 100, "end": 0.3},
    "contact": {"type": "inverse", "mu": 0.2},
    "forces": [{"type": "swirl"}],
    "bodies": [
        {
            "name": "ball",
            "shape": {"type": "ball", "radius": 0.05, "cells": 3},
            "material": {"type": "neo-hookean", "E": 1e5},
            "transform": {"translate": [0, 0.1, 0]},
        }
    ],
    "obstacles": [{"type": "plane", "point": [0, 0, 0], "normal": [0, 1, 0]}],
}
with brio.load(ball) as sim:
    sim.step(30)
    low = sim.positions()[:, 1].min()
    turn = sim.ledger().angular[1]
    print(
        f"the ball lies on your law, {low * 1e3:.2f} mm above the floor, and turns: {turn:.1e} J s"
    )
    assert low > 0
print([line for line in brio.command("list", "laws").splitlines() if "inverse" in line])

# %% [markdown]
# Next: docs/integrator.md walks through an integrator in C, docs/plugins.md makes a plug-in of it.

# %%
print("The end")
