"""Opens point caches and a glb in Blender and compares their vertices with those of the run's own VTU frames.

    blender -b --factory-startup --python blender_check.py -- FOLDER FPS
"""
import json
import os
import sys

import bpy
import numpy

if not hasattr(numpy, "bool"):  # the glTF importer of Debian 12's Blender 3.4 wants a name that its numpy has no longer
    numpy.bool = bool

folder, fps = sys.argv[sys.argv.index("--") + 1:][:2]
truth = json.load(open(os.path.join(folder, "truth.json")))
tolerance = 1e-5
failures = 0
scene = bpy.context.scene
scene.render.fps = int(float(fps))


def vertices(thing, frame):
    scene.frame_set(frame)
    evaluated = thing.evaluated_get(bpy.context.evaluated_depsgraph_get())
    mesh = evaluated.to_mesh()
    points = numpy.empty(3 * len(mesh.vertices), dtype=numpy.float32)
    mesh.vertices.foreach_get("co", points)
    evaluated.to_mesh_clear()
    return points.reshape(-1, 3).astype(float)


def places(thing):
    """How many places of its texture a mesh uses."""
    if not thing.data.uv_layers:
        return 0
    return len({tuple(round(x, 4) for x in corner.uv) for corner in thing.data.uv_layers.active.data})


def say(what, body, frame, worst, count):
    global failures
    failures += not worst <= tolerance
    print("%-8s %-12s frame %3d: farthest vertex of %d off by %.2e m%s" % (what, body, frame, count, worst, "" if worst <= tolerance else "  FAILED"))


for body in truth["bodies"]:
    for extension in ("pc2", "mdd"):
        bpy.ops.object.select_all(action="DESELECT")
        bpy.ops.import_scene.obj(filepath=os.path.join(folder, "%s-%s.obj" % (extension, body["file"])), split_mode="OFF") if not hasattr(bpy.ops.wm, "obj_import") \
            else bpy.ops.wm.obj_import(filepath=os.path.join(folder, "%s-%s.obj" % (extension, body["file"])))
        thing = bpy.context.selected_objects[0]
        assert len(thing.data.polygons) == body["faces"], (len(thing.data.polygons), body["faces"])
        assert len(thing.data.loops) == body["corners"], (len(thing.data.loops), body["corners"])
        assert bool(thing.data.uv_layers) == body["textured"]
        assert places(thing) == body["places"], (body["name"], places(thing), body["places"])
        modifier = thing.modifiers.new("cache", "MESH_CACHE")
        modifier.cache_format = extension.upper()
        modifier.filepath = os.path.join(folder, "%s-%s.%s" % (extension, body["file"], extension))
        modifier.time_mode = "FRAME"
        modifier.play_mode = "SCENE"
        modifier.frame_start = 0
        for frame in truth["frames"]:
            ours = numpy.array(body["points"][str(frame)])
            say(extension, body["name"], frame, abs(vertices(thing, frame) - ours).max(), len(ours))
        bpy.data.objects.remove(thing)

bpy.ops.import_scene.gltf(filepath=os.path.join(folder, "film.glb"))
for body in truth["bodies"]:
    thing = bpy.data.objects[body["name"]]
    # Vertices are divided at seams: ours at the first frame say which is which.
    def ours_of(points):
        return numpy.stack([points[:, 0], -points[:, 2], points[:, 1]], axis=1)  # Blender's z is up

    start, base = vertices(thing, 0), ours_of(numpy.array(body["points"]["0"]))
    which = numpy.array([abs(base - point).max(axis=1).argmin() for point in start])
    assert abs(base[which] - start).max() < tolerance
    assert len(numpy.unique(which)) == len(base)
    assert bool(thing.data.uv_layers) == body["textured"]
    assert places(thing) == body["places"], (body["name"], places(thing), body["places"])
    for frame in truth["frames"]:
        ours = ours_of(numpy.array(body["points"][str(frame)]))[which]
        say("glb", body["name"], frame, abs(vertices(thing, frame) - ours).max(), len(ours))
print("Blender %s: %s" % (bpy.app.version_string, "FAILED" if failures else "all within %g m" % tolerance))
sys.exit(1 if failures else 0)
