"""The add-on in a window: bakes while one scrubs, cancels, shows an error; pictures of all that.

    xvfb-run -a -s "-screen 0 1600x1150x24" blender --factory-startup -p 0 0 1600 1150 \\
        --python window_check.py -- BRIO ZIP FOLDER
"""
import os
import sys
import time
import traceback

import bpy

here = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, here)
import stage  # noqa: E402

brio, archive, folder = sys.argv[sys.argv.index("--") + 1:][:3]
os.environ["PATH"] = os.path.dirname(brio) + os.pathsep + os.environ["PATH"]
os.makedirs(folder, exist_ok=True)
FRAMES = 36


def check(condition, text):
    if not condition:
        raise AssertionError(text)


def window():
    return bpy.context.window_manager.windows[0]


def areas(kind):
    return [area for area in window().screen.areas if area.type == kind]


def arrange():
    """A large view with the camera's picture, and the Physics tab."""
    areas("PROPERTIES")[0].spaces[0].context = "PHYSICS"
    view = areas("VIEW_3D")[0].spaces[0]
    view.overlay.show_floor = view.overlay.show_cursor = False
    view.overlay.show_axis_x = view.overlay.show_axis_y = False
    view.shading.type, view.shading.color_type = "SOLID", "MATERIAL"
    view.shading.show_shadows = True
    view.region_3d.view_distance, view.region_3d.view_location = 3.6, (-0.1, 0, 0.6)
    view.region_3d.view_rotation = (0.80, 0.44, 0.20, 0.36)
    bpy.context.preferences.view.show_splash = False


def picture(name):
    with bpy.context.temp_override(window=window(), screen=window().screen):
        bpy.ops.wm.redraw_timer(type="DRAW_WIN_SWAP", iterations=1)
        bpy.ops.screen.screenshot(filepath=os.path.join(folder, name + ".png"))
    print("picture", name, flush=True)


def invoke(operator):
    """As a click on its button."""
    group, name = operator.split(".")
    area = areas("VIEW_3D")[0]
    with bpy.context.temp_override(window=window(), area=area, region=area.regions[-1]):
        return getattr(getattr(bpy.ops, group), name)("INVOKE_DEFAULT")


def active(name):
    thing = bpy.data.objects[name]
    for other in window().scene.objects:
        other.select_set(other == thing, view_layer=window().view_layer)
    window().view_layer.objects.active = thing
    return thing


def story():
    """Yields the seconds to wait: between two of them Blender handles its events."""
    bpy.ops.preferences.addon_install(filepath=archive, overwrite=True)
    bpy.ops.preferences.addon_enable(module="brio_blender")
    stage.empty()
    yield 0.5
    with bpy.context.temp_override(window=window()):
        stage.build(FRAMES, cells=22, density=4)
    yield 0.5
    from brio_blender import job
    scene = window().scene
    bpy.ops.wm.save_as_mainfile(filepath=os.path.join(folder, "window.blend"))
    arrange()
    active("Creature")
    yield 1.0
    picture("panel")
    yield 0.2
    invoke("brio.bake")
    check(job.is_running(), "no bake")
    while job.is_running() and job.current.cache.read < FRAMES // 2:
        yield 0.2
    scene.frame_set(job.current.cache.read - 1)  # scrub while it bakes
    fallen = stage.vertices(bpy.data.objects["Cloth"])[:, 2].mean()
    check(fallen < 1.85, "the cloth is at %g m while it bakes" % fallen)
    yield 0.5
    picture("bake")
    check(job.is_running(), "it ended too early for the picture")
    before = time.monotonic()
    with bpy.context.temp_override(window=window()):
        bpy.ops.brio.cancel()
    seconds = time.monotonic() - before
    print("window: cancel took %.2f s" % seconds, flush=True)
    check(seconds < 1 and not job.is_running(), "cancel")
    yield 0.5
    picture("cancelled")
    invoke("brio.resume")
    while job.is_running():
        yield 0.2
    check(scene.brio.status == "Baked, frames 1 to %d" % FRAMES, scene.brio.status)
    active("Cloth")
    scene.frame_set(FRAMES * 3 // 4)
    yield 0.5
    picture("playback")
    with bpy.context.temp_override(window=window()):
        bpy.ops.screen.animation_play()
    start = scene.frame_current
    yield 1.5
    check(scene.frame_current != start, "the animation does not play")
    with bpy.context.temp_override(window=window()):
        bpy.ops.screen.animation_cancel()
    print("window: it plays", flush=True)
    cloth = active("Cloth")
    cloth.location.z = 1.05
    scene.brio.start = "relax"
    scene.frame_set(1)
    invoke("brio.bake")
    while job.is_running():
        yield 0.2
    check(cloth.brio.error != "", "no error at the cloth")
    yield 0.5
    picture("error")
    with bpy.context.temp_override(window=window()):
        bpy.ops.brio.show_intersections()
    yield 0.5
    picture("intersections")
    print("Blender %s: the window passes" % bpy.app.version_string, flush=True)


tale = story()


def go_on():
    try:
        return next(tale)
    except StopIteration:
        sys.stdout.flush()
        os._exit(0)
    except BaseException:
        traceback.print_exc()
        sys.stderr.flush()
        os._exit(1)


bpy.app.timers.register(go_on, first_interval=1.0, persistent=True)
