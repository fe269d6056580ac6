"""What Blender shows, as brio reads it: meshes, materials and motion from the depsgraph."""
import os
from contextlib import contextmanager

import numpy as np

from .core import pc2, presets, scene as scenes, space
from .properties import BODIES, NUMBERS

MODIFIER = "brio"
# Modifiers that move vertices and make none: the cache comes after those that lead the stack.
DEFORMING = {"ARMATURE", "CAST", "CORRECTIVE_SMOOTH", "CURVE", "DISPLACE", "HOOK",
             "LAPLACIANDEFORM", "LAPLACIANSMOOTH", "LATTICE", "MESH_CACHE", "MESH_DEFORM",
             "SHRINKWRAP", "SIMPLE_DEFORM", "SMOOTH", "SURFACE_DEFORM", "WARP", "WAVE"}


class Refused(Exception):
    """An object that cannot be baked, in a sentence; without a name it is about the scene."""

    def __init__(self, name, text):
        super().__init__(text)
        self.name, self.text = name, text


def objects(context, *roles):
    """Visible mesh objects that have one of these roles, in the order of the scene."""
    found = [thing for thing in context.scene.objects
             if thing.type == "MESH" and thing.brio.role in roles]
    return [thing for thing in found if thing.visible_get(view_layer=context.view_layer)]


def leading(thing):
    """How many modifiers stand before the place of the cache."""
    count = 0
    for modifier in thing.modifiers:
        if modifier.name == MODIFIER or modifier.type not in DEFORMING:
            break
        count += 1
    return count


@contextmanager
def before_cache(things):
    """Objects as they are before the cache and what comes after it."""
    hidden = []
    for thing in things:
        for modifier in list(thing.modifiers)[leading(thing):]:
            if modifier.show_viewport:
                modifier.show_viewport = False
                hidden.append((thing.name, modifier.name))
    try:
        yield
    finally:
        import bpy
        for thing, modifier in hidden:
            found = bpy.data.objects.get(thing)
            if found and modifier in found.modifiers:
                found.modifiers[modifier].show_viewport = True


def mesh_of(thing, depsgraph, triangles=True):
    """Vertices (n x 3, in the object's own coordinates) and triangles of an evaluated object."""
    evaluated = thing.evaluated_get(depsgraph)
    mesh = evaluated.to_mesh()
    points = np.empty(3 * len(mesh.vertices), dtype=np.float32)
    mesh.vertices.foreach_get("co", points)
    corners = np.empty(0, dtype=np.int32)
    if triangles:
        mesh.calc_loop_triangles()
        corners = np.empty(3 * len(mesh.loop_triangles), dtype=np.int32)
        mesh.loop_triangles.foreach_get("vertices", corners)
    matrix = np.array(evaluated.matrix_world)
    evaluated.to_mesh_clear()
    return points.reshape(-1, 3).astype(float), corners.reshape(-1, 3), matrix


def material_of(props, metres):
    """The material of an object, and its density (kg/m3, kg/m2 of sheets, kg a vertex)."""
    if props.role == "SPRINGS":
        return ({"type": "hooke", "k": props.stiffness, "vertex_mass": props.vertex_mass},
                props.vertex_mass)
    sheet = props.role == "CLOTH"
    name = props.sheet if sheet else props.solid
    if name != NUMBERS:
        values = next(p["values"] for p in presets.load() if p["name"] == name)
        return {"type": name}, values["areal"] if sheet else values["rho"]
    if sheet:
        return ({"type": "membrane-neo-hookean", "E": props.young, "nu": props.poisson,
                 "thickness": props.thickness * metres, "areal": props.areal}, props.areal)
    kind = {"type": "affine"} if props.role == "RIGID" else {"type": "neo-hookean",
                                                             "nu": props.poisson}
    return {**kind, "E": props.young, "rho": props.density}, props.density


def pins_of(thing, count):
    """Groups of pins of an object."""
    props = thing.brio
    if not props.pins:
        return []
    group = thing.vertex_groups.get(props.pins)
    if group is None:
        raise Refused(thing.name, f'there is no vertex group "{props.pins}": choose another '
                                  "pin group, or none")
    weights = np.zeros(count)
    for vertex in thing.data.vertices:
        for element in vertex.groups:
            if element.group == group.index:
                weights[vertex.index] = element.weight
    if not (weights > 0).any():
        raise Refused(thing.name, f'the vertex group "{props.pins}" is empty: assign vertices to '
                                  "it, or choose another pin group")
    vertices = np.nonzero(weights > 0)[0]
    return scenes.split_pins(vertices, weights[vertices], props.pin_stiffness)


class Sampler:
    """Goes through the frames of a scene: first `start`, then `frame` for each one, then
    `finish`."""

    def __init__(self, context, folder, still=False):
        self.context, self.folder, self.still = context, folder, still
        self.scene = context.scene
        self.metres = context.scene.unit_settings.scale_length or 1.0
        self.bodies, self.colliders, self.floors = [], [], []
        self.matrices, self.motions = {}, {}
        self.body_things = objects(context, *BODIES)
        self.collider_things = objects(context, "COLLIDER")
        if not self.body_things:
            raise Refused("", "nothing is simulated: give an object the role Soft Body, Cloth, "
                              "Springs or Nearly Rigid")

    def moves(self):
        """Whether frames have to be looked at: anything that may be animated."""
        return not self.still and (
            any(body.pins for body in self.bodies) or
            any(thing.brio.animated for thing in self.collider_things) or
            any(_may_move(thing) for thing in self.body_things))

    def _depsgraph(self):
        """Blender has that of the scene in the window; in others, objects do not move."""
        if self.context.scene != self.scene:
            raise Refused("", "the window showed another scene meanwhile: bake again")
        return self.context.evaluated_depsgraph_get()

    def start(self):
        """Of the first frame, which the scene is at."""
        depsgraph = self._depsgraph()
        for thing in self.body_things:
            points, triangles, matrix = mesh_of(thing, depsgraph)
            if len(points) != len(thing.data.vertices):
                raise Refused(thing.name, "its modifiers before the cache change the number of "
                                          "vertices: move them down, or apply them")
            if not len(triangles):
                raise Refused(thing.name, "it has no faces")
            material, density = material_of(thing.brio, self.metres)
            matrix = space.to_brio(matrix, self.metres)
            props = thing.brio
            cells = props.cells if props.inside == "CAGE" else 0
            body = scenes.Body(thing.name, props.role, space.apply(matrix, points), triangles,
                               material, cells, density, pins_of(thing, len(points)),
                               props.self_contact)
            self._check_scale(thing, matrix)
            self.bodies.append(body)
            self.matrices[thing.name] = [matrix]
            for i, pins in enumerate(body.pins if props.animated and not self.still else ()):
                self._watch((thing.name, i), "pins%d-%d" % (len(self.bodies) - 1, i),
                            body.points[pins.vertices])
        for thing in self.collider_things:
            points, triangles, matrix = mesh_of(thing, depsgraph)
            if not len(triangles):
                raise Refused(thing.name, "it has no faces")
            points = space.apply(space.to_brio(matrix, self.metres), points)
            self.colliders.append(scenes.Collider(thing.name, points, triangles))
            if thing.brio.animated and not self.still:
                self._watch(thing.name, "collider%d" % (len(self.colliders) - 1), points)
        for thing in objects(self.context, "FLOOR"):
            matrix = space.to_brio(thing.matrix_world, self.metres)
            self.floors.append(scenes.Floor(thing.name, matrix[:3, 3].tolist(),
                                            matrix[:3, 2].tolist()))

    def _check_scale(self, thing, matrix):
        try:
            space.invert(matrix)
        except ValueError as problem:
            raise Refused(thing.name, str(problem)) from None

    def _watch(self, key, name, points):
        self.motions[key] = pc2.Motion(os.path.join(self.folder, name + ".pc2"), len(points))
        self.motions[key].append(points)

    def frame(self):
        """Of one more frame, which the scene is at."""
        depsgraph = self._depsgraph()
        for thing, body in zip(self.body_things, self.bodies):
            world = np.array(thing.evaluated_get(depsgraph).matrix_world)
            matrix = space.to_brio(world, self.metres)
            self.matrices[thing.name].append(matrix)
            keys = [(i, (thing.name, i)) for i in range(len(body.pins))
                    if (thing.name, i) in self.motions]
            if keys:
                points = space.apply(matrix, mesh_of(thing, depsgraph, triangles=False)[0])
                for i, key in keys:
                    self.motions[key].append(points[body.pins[i].vertices])
        for thing, collider in zip(self.collider_things, self.colliders):
            if thing.name not in self.motions:
                continue
            points, _, world = mesh_of(thing, depsgraph, triangles=False)
            if len(points) != len(collider.points):
                raise Refused(thing.name, "its number of vertices changes at frame %d (%d to %d): "
                              "a collider keeps its faces, so turn that modifier off" %
                              (self.context.scene.frame_current, len(collider.points),
                               len(points)))
            self.motions[thing.name].append(
                space.apply(space.to_brio(world, self.metres), points))

    def finish(self):
        """All frames were seen."""
        for collider in self.colliders:
            if collider.name in self.motions:
                collider.motion = self.motions[collider.name].close()
        for body in self.bodies:
            for i, pins in enumerate(body.pins):
                if (body.name, i) in self.motions:
                    pins.motion = self.motions[body.name, i].close()
        for name, matrices in self.matrices.items():
            if np.abs(np.array(matrices) - matrices[0]).max() == 0:
                self.matrices[name] = matrices[:1]

    def abandon(self):
        for motion in self.motions.values():
            motion.writer.close()


def _may_move(thing):
    """Whether the place of an object may change in time. A parent may move it without animation
    of its own: by a bone with constraints, or by vertices that modifiers or shape keys move."""
    return bool(thing.parent or thing.animation_data or thing.constraints or thing.rigid_body)


def settings_of(scene, frames, sampler):
    """The scene's own part of the scene file."""
    props, metres = scene.brio, sampler.metres
    gravity = space.vector(scene.gravity, metres) if scene.use_gravity else [0.0, 0.0, 0.0]
    integrator = {"type": props.method}
    settings = scenes.Settings(
        fps=scene.render.fps / scene.render.fps_base, frames=frames, substeps=props.substeps,
        gravity=gravity, integrator=integrator, quality=props.quality, contact=props.contact,
        friction=props.friction, distance=props.distance * metres, start=props.start,
        wind=space.vector(props.wind, metres), checkpoints=props.checkpoints, title=scene.name)
    if props.method == "a-search" and props.energy == "DECAY":
        integrator["decay"] = props.decay
        integrator["ground"] = scenes.ground(settings, sampler.bodies,
                                             sampler.colliders, sampler.floors)
    return settings


def questions(scene, settings, sampler):
    """What is hardly meant, in sentences."""
    pull = float(np.linalg.norm(settings.gravity))
    obstacles = settings.contact and (sampler.colliders or sampler.floors)
    if pull > 0 and not obstacles and not any(body.pins for body in sampler.bodies):
        yield ("nothing holds the bodies and there is no collider: they fall. Give the floor the "
               "role Collider or Endless Floor")
    if (sampler.colliders or sampler.floors) and not settings.contact:
        yield "contact is off: colliders do nothing"
    if 0 < pull < 1 and scene.unit_settings.scale_length != 1:
        yield ("gravity is %.3g m/s2 in the units of this scene: everything moves slowly. Set it "
               "to -9.81 m/s2 in the panel Motion" % pull)
