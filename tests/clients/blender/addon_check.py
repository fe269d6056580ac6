"""The add-on as a user drives it, without a window.

    blender -b --factory-startup --python addon_check.py -- BRIO ZIP FOLDER
"""
import os
import sys
import time
import traceback

import bpy
import numpy as np

here = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, here)
import stage  # noqa: E402

brio, archive, folder = sys.argv[sys.argv.index("--") + 1:][:3]
os.environ["PATH"] = os.path.dirname(brio) + os.pathsep + os.environ["PATH"]
os.makedirs(folder, exist_ok=True)
FRAMES = 16


def modules():
    import brio_blender
    from brio_blender import job, sample
    from brio_blender.core import pc2, process, space
    return brio_blender, job, sample, pc2, process, space


def check(condition, text):
    if not condition:
        raise AssertionError(text)


def install():
    """As Preferences > Add-ons > Install does it."""
    bpy.ops.preferences.addon_install(filepath=archive, overwrite=True)
    bpy.ops.preferences.addon_enable(module="brio_blender")
    from brio_blender import job
    check(job.find_program(bpy.context) == brio, job.find_program(bpy.context))
    print("installed; program", job.program_version())


def first_bake():
    """From an empty file to a baked animation that plays."""
    stage.empty()
    things = stage.build(FRAMES, cells=20, density=4)
    scene = bpy.context.scene
    bpy.ops.wm.save_as_mainfile(filepath=os.path.join(folder, "stage.blend"))
    before = {name: [layer.name for layer in thing.data.uv_layers]
              for name, thing in things.items()}
    plain = np.array([vertex.co[:] for vertex in things["Creature"].data.vertices])
    started = time.monotonic()
    check(stage.call("brio.bake") == {"FINISHED"}, scene.brio.error)
    print("bake: %d frames in %.1f s, %d operators: %s" %
          (FRAMES, time.monotonic() - started, len(stage.calls), ", ".join(stage.calls)))
    check(len(stage.calls) <= 10, "too many operators")
    check("Baked, frames 1 to %d" % FRAMES == scene.brio.status, scene.brio.status)
    for name, thing in things.items():
        check([layer.name for layer in thing.data.uv_layers] == before[name], "UVs of " + name)
    now = np.array([vertex.co[:] for vertex in things["Creature"].data.vertices])
    check((now == plain).all(), "the mesh itself was changed")
    scene.frame_set(1)
    start = stage.vertices(things["Creature"])
    scene.frame_set(FRAMES)
    moved = abs(stage.vertices(things["Creature"]) - start).max()
    check(moved > 0.1, "nothing moved")
    print("plays: farthest vertex moved %.3f m; cache of %s" % (
        moved, things["Cloth"].modifiers["brio"].filepath))
    return things


def same_as_library(things):
    """Every vertex of every frame against the library's own doubles, from the same scene file."""
    sys.path.insert(0, os.path.join(os.path.dirname(here), "..", "..", "python"))
    os.environ.setdefault("BRIO_LIBRARY", os.path.join(os.path.dirname(brio), "libbrio.so"))
    import brio as library
    _, job, _, _, _, space = modules()
    cache = job.cache_of(bpy.context.scene)
    # Threads: the library gives the same bits for any number of them.
    sim = library.load(os.path.join(cache.run_folder(), "scene.yaml"))
    worst, steps = 0.0, bpy.context.scene.brio.substeps
    for frame in range(FRAMES):
        for _ in range(steps if frame else 0):
            sim.step()
        bpy.context.scene.frame_set(1 + frame)
        for name in ("Creature", "Cloth"):
            ours = np.asarray(sim.positions(name)) @ space.TURN
            worst = max(worst, abs(stage.vertices(things[name]) - ours).max())
    print("vertices: farthest from the library's %.2e m over %d frames" % (worst, FRAMES))
    check(worst < 1e-6, "too far")


def modifiers_and_groups():
    """Transforms, subdivision after the cache, an armature before it, shape keys, pins."""
    _, job, _, _, _, _ = modules()
    stage.empty()
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 5, 20
    bpy.ops.mesh.primitive_grid_add(x_subdivisions=10, y_subdivisions=10, size=2,
                                    location=(3, -1, 2))
    cloth = bpy.context.object
    cloth.scale, cloth.rotation_euler = (0.5, 0.4, 1.0), (0.2, 0.3, 0.4)
    cloth.shape_key_add(name="Basis")
    key = cloth.shape_key_add(name="bent")
    for point in key.data:
        point.co.z += 0.1 * point.co.x ** 2
    key.value = 1.0
    armature = bpy.data.objects.new("Rig", bpy.data.armatures.new("Rig"))
    scene.collection.objects.link(armature)
    bpy.context.view_layer.objects.active = armature
    bpy.ops.object.mode_set(mode="EDIT")
    bone = armature.data.edit_bones.new("hand")
    bone.head, bone.tail = (3, -1, 2), (3, -1, 3)
    bpy.ops.object.mode_set(mode="OBJECT")
    group = cloth.vertex_groups.new(name="hand")
    edge = [v.index for v in cloth.data.vertices if v.co.x > 0.99]
    group.add(edge, 1.0, "ADD")
    group.add([v.index for v in cloth.data.vertices if 0.7 < v.co.x < 0.9], 0.5, "ADD")
    cloth.modifiers.new("Rig", "ARMATURE").object = armature
    cloth.modifiers.new("Subdivision", "SUBSURF").levels = 1
    pose = armature.pose.bones["hand"]
    for frame, x in ((5, 0.0), (20, 0.6)):
        pose.location = (x, 0, 0)
        pose.keyframe_insert("location", frame=frame)
    cloth.brio.role, cloth.brio.pins = "CLOTH", "hand"
    scene.brio.contact = False
    scene.frame_set(9)
    check(bpy.ops.brio.bake() == {"FINISHED"}, scene.brio.error)
    check(scene.frame_current == 9, "the current frame was not put back")
    names = [modifier.name for modifier in cloth.modifiers]
    check(names == ["Rig", "brio", "Subdivision"], names)
    check(all(modifier.show_viewport for modifier in cloth.modifiers), "a modifier stayed off")
    check(cloth.data.shape_keys.key_blocks["bent"].value == 1.0, "shape key")
    # Pinned vertices are where the armature has them, at every frame.
    subdivided = cloth.modifiers["Subdivision"]
    worst = 0.0
    for frame in range(5, 21):
        scene.frame_set(frame)
        subdivided.show_viewport = False
        baked = stage.vertices(cloth)
        cloth.modifiers["brio"].show_viewport = False
        posed = stage.vertices(cloth)
        cloth.modifiers["brio"].show_viewport = True
        if frame == 5:
            check(abs(baked - posed).max() < 1e-6, "the first frame is another shape")
        worst = max(worst, abs(baked - posed)[edge].max())
        free = abs(baked - posed).max()
    check(worst < 1e-6, "pins are off by %g m" % worst)
    check(free > 0.05, "the free part follows the armature")
    subdivided.show_viewport = True
    check(len(stage.vertices(cloth)) > len(cloth.data.vertices), "no subdivision after the cache")
    print("pins: off by %.1e m from the armature; modifiers %s" % (worst, names))
    # a group with all weights below 1, and soft bodies and nearly rigid ones that are pinned
    bpy.ops.mesh.primitive_ico_sphere_add(subdivisions=3, radius=0.3, location=(0, 0, 2))
    ball = bpy.context.object
    group = ball.vertex_groups.new(name="top")
    group.add([v.index for v in ball.data.vertices if v.co.z > 0.2], 1.0, "ADD")
    ball.brio.pins = "top"
    ball.keyframe_insert("location", frame=5)
    ball.location.x = 0.5
    ball.keyframe_insert("location", frame=20)
    for role in ("SOFT", "RIGID"):
        ball.brio.role = role
        check(bpy.ops.brio.bake() == {"FINISHED"}, scene.brio.error)
        scene.frame_set(20)
        centre = stage.vertices(ball).mean(axis=0)
        check(0.2 < centre[0] < 0.8, "%s: %s" % (role, centre))
    job.cache_of(scene).clear()


def second_bake():
    """After a change; then from the middle; then everything is freed."""
    _, job, _, pc2, _, _ = modules()
    scene = bpy.context.scene
    cloth, soft = bpy.data.objects["Cloth"], bpy.data.objects["Creature"]
    scene.frame_set(FRAMES)
    before = stage.vertices(soft)
    soft.brio.solid = "jelly"
    check(bpy.ops.brio.bake() == {"FINISHED"}, scene.brio.error)
    scene.frame_set(FRAMES)
    after = stage.vertices(soft)
    change = abs(after - before).max()
    check(change > 1e-3, "the second bake is the first one")
    print("second bake: a vertex differs by %.3f m" % change)
    # from here, without a change: the same vertices
    half = FRAMES // 2
    scene.frame_set(half)
    kept = stage.vertices(cloth)
    check(bpy.ops.brio.bake_from_here() == {"FINISHED"}, scene.brio.error)
    scene.frame_set(half)
    check(abs(stage.vertices(cloth) - kept).max() == 0, "the kept frames changed")
    scene.frame_set(FRAMES)
    off = abs(stage.vertices(soft) - after).max()
    print("from here, nothing changed: off by %.1e m at the end" % off)
    check(off == 0, "the same settings gave another motion")
    # from here, with wind: the frames before stay
    scene.brio.wind = (0, 6, 0)
    scene.frame_set(half)
    check(bpy.ops.brio.bake_from_here() == {"FINISHED"}, scene.brio.error)
    check(job.cache_of(scene).read == FRAMES, job.cache_of(scene).read)
    scene.frame_set(half)
    check(abs(stage.vertices(cloth) - kept).max() == 0, "the kept frames changed")
    scene.frame_set(FRAMES)
    drift = stage.vertices(cloth).mean(axis=0)[1] - kept.mean(axis=0)[1]
    print("from here, with wind: the cloth has gone %.2f m" % drift)
    check(drift > 0.05, "no wind")
    scene.brio.wind = (0, 0, 0)


def cancel_and_resume():
    """Cancelled within a second, and gone on with to the same vertices."""
    _, job, _, _, process, _ = modules()
    scene = bpy.context.scene
    soft = bpy.data.objects["Creature"]
    check(bpy.ops.brio.bake() == {"FINISHED"}, scene.brio.error)
    scene.frame_set(FRAMES)
    whole = stage.vertices(soft)
    work = job.start(bpy.context, "BAKE")
    while work.tick(0.05) and work.cache.read < 6:
        time.sleep(0.02)
    started = time.monotonic()
    bpy.ops.brio.cancel()
    seconds = time.monotonic() - started
    print("cancel: %.2f s, %s" % (seconds, scene.brio.status))
    check(seconds < 1, "cancel took %g s" % seconds)
    check(not job.is_running() and not work.run.running, "it still runs")
    read = work.cache.read
    check(6 <= read < FRAMES, read)
    check(scene.brio.error == "", scene.brio.error)
    scene.frame_set(read)
    check(bpy.ops.brio.resume() == {"FINISHED"}, scene.brio.error)
    scene.frame_set(FRAMES)
    check((stage.vertices(soft) == whole).all(), "resumed to other vertices")
    print("resume: from frame %d to the same vertices" % read)
    # cancelled while frames are looked at
    work = job.start(bpy.context, "BAKE")
    work.tick(0.001)
    check(work.run is None, "too fast for this test")
    bpy.ops.brio.cancel()
    check(all(modifier.show_viewport for modifier in soft.modifiers), "a modifier stayed off")


def errors():
    """Each at its object, in the words of the program."""
    _, job, _, _, process, _ = modules()
    scene = bpy.context.scene
    cloth, soft = bpy.data.objects["Cloth"], bpy.data.objects["Creature"]
    scene.frame_set(FRAMES)
    baked = stage.vertices(soft)
    cloth.brio.role = "RIGID"
    check(bpy.ops.brio.bake() == {"CANCELLED"}, "an open sheet as a solid")
    print("error at Cloth: %s" % cloth.brio.error)
    check("not closed" in cloth.brio.error and not soft.brio.error, soft.brio.error)
    check(scene.brio.error.startswith("Cloth: "), scene.brio.error)
    cloth.brio.role = "CLOTH"
    soft.brio.pins = "nobody"
    check(bpy.ops.brio.bake() == {"CANCELLED"}, "no such group")
    check("nobody" in soft.brio.error and not cloth.brio.error, soft.brio.error)
    soft.brio.pins = ""
    height = cloth.location.z
    cloth.location.z = 1.0
    scene.brio.start = "relax"
    check(bpy.ops.brio.bake() == {"CANCELLED"}, "an intersection")
    print("error at both: %s" % cloth.brio.error)
    check(cloth.brio.error and soft.brio.error, "intersection without objects")
    check("kept" in scene.brio.status, scene.brio.status)
    scene.frame_set(FRAMES)
    check(np.array_equal(stage.vertices(soft), baked), "a refused bake removed the one before")
    print("error: the bake before three refused ones still plays")
    bpy.ops.brio.show_intersections()
    selected = {}
    for thing in (cloth, soft):
        thing.update_from_editmode()
        selected[thing.name] = sum(vertex.select for vertex in thing.data.vertices)
        check(thing.mode == "EDIT", thing.name)
    print("intersections: selected vertices %s" % selected)
    check(all(0 < count < 1500 for count in selected.values()), selected)
    bpy.ops.object.mode_set(mode="OBJECT")
    cloth.location.z = height
    check(bpy.ops.brio.show_intersections() == {"FINISHED"}, "show")
    check(not cloth.brio.error and bpy.context.object.mode == "OBJECT", cloth.brio.error)
    path = os.environ["PATH"]
    os.environ["PATH"] = ""
    check(bpy.ops.brio.bake() == {"CANCELLED"}, "no program")
    check("was not found" in scene.brio.error, scene.brio.error)
    os.environ["PATH"] = path


def report_and_free():
    _, job, _, _, _, _ = modules()
    scene = bpy.context.scene
    check(bpy.ops.brio.bake() == {"FINISHED"}, scene.brio.error)
    opened = []
    import webbrowser
    webbrowser.open, real = lambda address: opened.append(address), webbrowser.open
    bpy.ops.brio.open_report()
    webbrowser.open = real
    check(opened[0].endswith("report.html"), opened)
    bpy.ops.wm.save_mainfile()
    bpy.ops.wm.open_mainfile(filepath=bpy.data.filepath)
    scene = bpy.context.scene
    scene.frame_set(FRAMES)
    soft = bpy.data.objects["Creature"]
    check(soft.modifiers["brio"].filepath.startswith("//"), soft.modifiers["brio"].filepath)
    check(stage.vertices(soft)[:, 2].min() < 0.3, "nothing fell after loading the file again")
    cache = job.cache_folder(scene)
    bpy.ops.brio.free()
    check("brio" not in soft.modifiers and not os.path.exists(cache), "not freed")
    print("report opened; free removed modifier and folder")


def main():
    install()
    things = first_bake()
    same_as_library(things)
    second_bake()
    cancel_and_resume()
    errors()
    report_and_free()
    modifiers_and_groups()
    print("Blender %s: the add-on passes" % bpy.app.version_string)


try:
    main()
except BaseException:
    traceback.print_exc()
    sys.stdout.flush()
    os._exit(1)
