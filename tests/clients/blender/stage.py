"""A scene of our own making for the add-on: a dense creature with a texture, a cloth, an animated
collider and a floor, from an empty file. Counts the operators that it calls."""
import bpy
import numpy as np

calls = []


def call(operator, *arguments, **options):
    """Calls an operator by its name, and notes it."""
    calls.append(operator)
    group, name = operator.split(".")
    return getattr(getattr(bpy.ops, group), name)(*arguments, **options)


def bump(directions, toward, width):
    """1 in a direction, falling to 0 around it."""
    toward = np.array(toward) / np.linalg.norm(toward)
    return np.exp((directions @ toward - 1) / width)


def creature(density, location=(0, 0, 1.0)):
    """A ball with four legs, two ears and a snout."""
    call("mesh.primitive_ico_sphere_add", subdivisions=density, radius=1, location=location)
    thing = bpy.context.object
    thing.name = "Creature"
    mesh = thing.data
    points = np.empty(3 * len(mesh.vertices))
    mesh.vertices.foreach_get("co", points)
    directions = points.reshape(-1, 3)
    directions /= np.linalg.norm(directions, axis=1)[:, None]
    radius = np.full(len(directions), 0.32)
    for x in (-0.8, 0.8):
        for y in (-0.55, 0.55):
            radius += 0.3 * bump(directions, (x, y, -1), 0.03)
    for y in (-0.5, 0.5):
        radius += 0.25 * bump(directions, (0.6, y, 1), 0.02)
    radius += 0.15 * bump(directions, (1, 0, 0.15), 0.05)
    mesh.vertices.foreach_set("co", (directions * radius[:, None]).ravel())
    mesh.polygons.foreach_set("use_smooth", [True] * len(mesh.polygons))
    mesh.update()
    paint(thing, (0.9, 0.45, 0.2, 1))
    return thing


def paint(thing, colour):
    material = bpy.data.materials.new(thing.name)
    material.diffuse_color = colour
    thing.data.materials.append(material)


def empty():
    call("wm.read_homefile", use_empty=True, use_factory_startup=True)
    enable()


def build(frames=60, cells=28, density=5):
    """The scene, in an empty file; returns its objects by name."""
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end, scene.render.fps = 1, frames, 24
    soft = creature(density)
    soft.brio.role = "SOFT"
    soft.brio.cells = 8
    soft.rotation_euler = (0.1, 0.0, 0.5)
    call("mesh.primitive_grid_add", x_subdivisions=cells, y_subdivisions=cells, size=1.5,
         location=(0.05, 0, 1.9))
    cloth = bpy.context.object
    cloth.name = "Cloth"
    cloth.brio.role = "CLOTH"
    paint(cloth, (0.25, 0.5, 0.9, 1))
    cloth.data.polygons.foreach_set("use_smooth", [True] * len(cloth.data.polygons))
    call("mesh.primitive_uv_sphere_add", segments=24, ring_count=12, radius=0.25,
         location=(-1.6, 0, 0.3))
    ball = bpy.context.object
    ball.name = "Pusher"
    ball.brio.role = "COLLIDER"
    paint(ball, (0.4, 0.4, 0.45, 1))
    for frame, x in ((1, -1.6), (frames // 3, -1.6), (2 * frames // 3, -0.6)):
        ball.location.x = x
        ball.keyframe_insert("location", frame=frame)
    call("mesh.primitive_plane_add", size=8)
    floor = bpy.context.object
    floor.name = "Floor"
    floor.brio.role = "COLLIDER"
    paint(floor, (0.75, 0.75, 0.72, 1))
    return {thing.name: thing for thing in (soft, cloth, ball, floor)}


def enable():
    """The add-on, as it was installed; also after a file was loaded."""
    import addon_utils
    if not addon_utils.check("brio_blender")[1]:
        addon_utils.enable("brio_blender", default_set=True)


def vertices(thing):
    """World positions of what is shown at the current frame, double precision."""
    depsgraph = bpy.context.evaluated_depsgraph_get()
    evaluated = thing.evaluated_get(depsgraph)
    mesh = evaluated.to_mesh()
    points = np.empty(3 * len(mesh.vertices), dtype=np.float32)
    mesh.vertices.foreach_get("co", points)
    matrix = np.array(evaluated.matrix_world)
    evaluated.to_mesh_clear()
    return points.reshape(-1, 3).astype(float) @ matrix[:3, :3].T + matrix[:3, 3]
