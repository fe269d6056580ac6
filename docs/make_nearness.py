#!/usr/bin/env python3
"""Measures how near integrators come to fine references on eight scenes, by
`brio compare --reference`, and writes the tables of docs/integrators.md between the marks
`nearness: begin` and `nearness: end`.

    docs/make_nearness.py build/brio        # some minutes on one thread
"""
import json
import pathlib
import subprocess
import sys
import tempfile

METHODS = ["backward-euler", "bdf2", "tr-bdf2", "implicit-midpoint", "generalized-alpha", "blend",
           "a-1", "a-search", "bathe", "average-vector-field", "energy-momentum", "fepr",
           "exponential"]
STEP = "1/120"
# scene, seconds, reference
SCENES = [
    ("spinning-cube", 1, "verlet:1/20000"),
    ("cantilever", 1, "verlet:1/20000"),
    ("cloth", 1, "verlet:1/6000"),
    ("hanging-bar", 1, "verlet:1/20000"),
    ("wound-bar", 0.5, "verlet:1/20000"),
    ("intermediate-axis", 3, "verlet:1/20000"),
    ("bar-wall", 3, "trapezoidal:1/30000"),
    ("ball-affine", 0.75, "tr-bdf2:1/20000"),
]
TABLES = [
    ("off_energy_percent", "Total energy, % off"),
    ("off_elastic_percent", "Elastic energy, % off"),
    ("off_spectrum_percent", "Spectrum of vibration, % off"),
    ("off_angular_momentum_percent", "Angular momentum, % off"),
    ("off_path", "Path of the centre of mass, mm off"),
    ("newton_iterations", "Newton iterations"),
    ("cpu", "CPU time, s"),
]
JUDGED = ["off_energy_percent", "off_elastic_percent", "off_spectrum_percent", "off_path"]


def measure(brio, folder):
    results = {}
    for scene, end, reference in SCENES:
        command = [brio, "compare", scene, "--integrators", ",".join(METHODS), "--h", STEP,
                   "--reference", reference, "--set", f"time.end={end}", "--threads", "1",
                   "--quiet", "--json", "--force", "-o", str(folder / scene)]
        out = subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout
        trials = json.loads(out)["trials"]
        if trials[-1]["outcome"] != "completed":
            sys.exit(f"{scene}: the reference {reference}: {trials[-1]['reason']}")
        results[scene] = {t["integrator"]: t for t in trials[:-1]}
        print(scene, {t["integrator"]: t["outcome"] for t in trials if t["outcome"] != "completed"},
              f"{trials[-1]['cpu']:.0f} s", file=sys.stderr)
    return results


def cell(trial, key, best):
    words = {"refused": "–", "exploded": "explodes", "failed": "fails"}
    if trial["outcome"] != "completed":
        return words[trial["outcome"]]
    value = trial[key]
    if value is None:
        return "–"
    value *= 1000 if key == "off_path" else 1
    text = f"{value:.0f}" if key == "newton_iterations" else f"{value:.2g}"
    if "e" in text:
        text = f"{value:.0f}" if value >= 1 else "0"
    return f"**{text}**" if best is not None and trial[key] <= 1.1 * best else text


def table(results, key, title):
    lines = [f"| {title} | " + " | ".join(s for s, _, _ in SCENES) + " |",
             "|---" * (len(SCENES) + 1) + "|"]
    best = {}
    for scene, trials in results.items():
        values = [t[key] for t in trials.values()
                  if t["outcome"] == "completed" and t[key] is not None]
        best[scene] = min(values) if values and key.startswith("off") else None
    for m in METHODS:
        cells = [cell(results[s][m], key, best[s]) for s, _, _ in SCENES]
        lines.append(f"| `{m}` | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def ranks(results):
    """Mean place of each method, by what is judged, over the scenes; what does not run is last."""
    places = {m: [] for m in METHODS}
    for trials in results.values():
        for key in JUDGED:
            order = sorted(METHODS, key=lambda m: trials[m][key] if trials[m][key] is not None
                           else float("inf"))
            for m in METHODS:
                ran = trials[m][key] is not None
                places[m].append(order.index(m) + 1 if ran else len(METHODS))
    return {m: sum(p) / len(p) for m, p in places.items()}


def recommend(results):
    place = ranks(results)
    order = sorted(METHODS, key=place.get)
    cost = {m: sum(t[m]["cpu"] or 0 for t in results.values()) for m in METHODS}
    runs = {m: sum(t[m]["outcome"] == "completed" for t in results.values()) for m in METHODS}
    lines = [f"| method | mean place of {len(METHODS)} | scenes that it finishes | CPU time, s |",
             "|---|---|---|---|"]
    lines += [f"| `{m}` | {place[m]:.1f} | {runs[m]} of {len(SCENES)} | {cost[m]:.1f} |"
              for m in order]
    everywhere = [m for m in order if runs[m] == len(SCENES)]
    free = {s: results[s] for s, _, r in SCENES if r.startswith("verlet")}
    touch = {s: results[s] for s in results if s not in free}
    first = min(METHODS, key=ranks(free).get)
    second = min(everywhere, key=ranks(touch).get)
    energy = {m: sorted(t[m]["off_energy_percent"] for t in results.values())[len(SCENES) // 2]
              for m in everywhere}
    keeps = min(everywhere, key=energy.get)
    lines += ["", f"Recommended by these numbers: `{everywhere[0]}`, the nearest of the methods that "
              f"finish every scene;\n`{first}` where nothing touches, `{second}` where bodies touch; and "
              f"`{keeps}` for the energy\n(median {energy[keeps]:.2g} % off, "
              f"`{everywhere[0]}` {energy[everywhere[0]]:.2g} %)."]
    return "\n".join(lines)


def main():
    brio = sys.argv[1] if len(sys.argv) > 1 else "build/brio"
    page = pathlib.Path(__file__).with_name("integrators.md")
    with tempfile.TemporaryDirectory() as folder:
        results = measure(brio, pathlib.Path(sys.argv[2]) if len(sys.argv) > 2
                          else pathlib.Path(folder))
    block = "\n\n".join([recommend(results)] + [table(results, k, t) for k, t in TABLES])
    begin, end = "<!-- nearness: begin -->", "<!-- nearness: end -->"
    text = page.read_text()
    if begin not in text:
        sys.exit(f"{page} has no mark {begin}")
    head, tail = text.split(begin)[0], text.split(end)[1]
    page.write_text(head + begin + "\n" + block + "\n" + end + tail)


if __name__ == "__main__":
    main()
