"""What a .blend file keeps: a role and a material for each object, a method for each scene."""
import bpy
from bpy.props import (BoolProperty, EnumProperty, FloatProperty, FloatVectorProperty, IntProperty,
                       PointerProperty, StringProperty)

from .core import presets

NUMBERS = "NUMBERS"
ROLES = [
    ("NONE", "None", "brio does not see this object", "X", 0),
    ("SOFT", "Soft Body", "A solid that deforms: closed meshes, however dense", "META_BALL", 1),
    ("CLOTH", "Cloth", "A sheet that bends and folds", "MOD_CLOTH", 2),
    ("SPRINGS", "Springs", "Every edge is a spring", "FORCE_HARMONIC", 3),
    ("RIGID", "Nearly Rigid", "Moves and turns as a whole: closed meshes", "MESH_CUBE", 4),
    ("COLLIDER", "Collider", "Others meet it; it moves as it is animated, or stands still",
     "MOD_PHYSICS", 5),
    ("FLOOR", "Endless Floor", "A plane through the origin of the object, across its local Z axis: "
     "nothing gets below", "MESH_PLANE", 6),
]
BODIES = ("SOFT", "CLOTH", "SPRINGS", "RIGID")
METHODS = [
    ("a-search", "Lively (A-search)", "Keeps the energy at the target that you set"),
    ("bdf2", "Smooth (BDF2)", "Second order: calms fast vibrations, keeps slow motion"),
    ("backward-euler", "Calm (Backward Euler)", "Takes energy from everything that moves fast"),
    ("implicit-midpoint", "Exact (Implicit Midpoint)", "No damping at all: needs many steps"),
]


def _preset_items(sheet):
    try:
        found = [preset for preset in presets.load() if preset["sheet"] == sheet]
    except OSError:  # not packed by `make blender`
        found = []
    items = [(p["name"], p["name"].capitalize(), p["summary"]) for p in found]
    return items + [(NUMBERS, "Numbers", "Give the numbers yourself")]


def _preset(sheet, default):
    items = _preset_items(sheet)
    known = [item[0] for item in items]
    return EnumProperty(name="Material", items=items,
                        default=default if default in known else NUMBERS)


class BrioObject(bpy.types.PropertyGroup):
    """Of an object."""

    role: EnumProperty(name="Role", items=ROLES, default="NONE",
                       description="What the object is for brio")
    solid: _preset(False, "silicone")
    sheet: _preset(True, "cotton")
    young: FloatProperty(name="Stiffness (Pa)", default=1e5, min=1e-3, soft_max=1e9, precision=0,
                         description="Young's modulus: 5e3 is jelly, 1e5 silicone, 1e6 rubber")
    poisson: FloatProperty(name="Poisson's Ratio", default=0.4, min=0, max=0.49,
                           description="How much it bulges when pressed: 0.49 keeps its volume")
    density: FloatProperty(name="Density (kg/m³)", default=1000, min=1e-3, soft_max=10000,
                           description="Mass of a cubic metre")
    areal: FloatProperty(name="Weight (kg/m²)", default=0.2, min=1e-4, soft_max=5, precision=3,
                         description="Mass of a square metre of the sheet")
    thickness: FloatProperty(name="Thickness", default=0.001, min=1e-6, soft_max=0.1, unit="LENGTH",
                             precision=4, description="Of the sheet: thicker sheets are stiffer")
    stiffness: FloatProperty(name="Stiffness (N/m)", default=100, min=1e-6, soft_max=1e6,
                             description="Of each spring")
    vertex_mass: FloatProperty(name="Mass per Vertex", default=0.001, min=1e-9, soft_max=10,
                               unit="MASS", precision=4, description="Mass of each vertex")
    inside: EnumProperty(name="Inside", default="CAGE", items=[
        ("CAGE", "Cage", "A lattice of cells around the mesh carries it, however dense it is"),
        ("TETS", "Tets", "The mesh is filled with tets by tetgen or gmsh, which must be installed; "
         "for coarse meshes"),
    ], description="What is simulated inside of the surface")
    cells: IntProperty(name="Cells", default=10, min=1, max=200, soft_max=40,
                       description="Cells of the cage along the longest side: more show finer "
                                   "motion and take longer")
    self_contact: BoolProperty(name="Self Contact", default=True,
                               description="Parts of the object meet each other. Off: they pass "
                                           "through, as eyes that reach into a head must")
    pins: StringProperty(name="Pin Group",
                         description="Vertex group that is held where the animation has it. Weight "
                                     "1 is fixed, less is pulled by springs")
    pin_stiffness: FloatProperty(name="Pin Stiffness (N/m)", default=0, min=0, soft_max=1e6,
                                 description="Of the spring of a vertex of weight 1; 0: chosen by "
                                             "the mass")
    animated: BoolProperty(name="Animated", default=True,
                           description="Look at every frame how it moves (armatures, modifiers, "
                                       "keyframes). Off: it stays as it is at the first frame")
    error: StringProperty(options={"SKIP_SAVE"})
    warning: StringProperty(options={"SKIP_SAVE"})


class BrioScene(bpy.types.PropertyGroup):
    """Of a scene."""

    method: EnumProperty(name="Method", items=METHODS, default="a-search",
                         description="Time integration method")
    energy: EnumProperty(name="Energy", default="DECAY", items=[
        ("KEEP", "Keep", "Nothing is lost but by friction: it bounces on and on"),
        ("DECAY", "Decay", "It comes to rest as fast as you say")])
    decay: FloatProperty(name="Decay Time (s)", default=1.0, min=1e-3, soft_max=20,
                         description="Seconds until about a third of the energy is left")
    quality: EnumProperty(name="Quality", default="preview", items=[
        ("preview", "Preview", "Fast, for trying things out"),
        ("film", "Film", "For pictures"),
        ("exact", "Exact", "For measurements: slow")])
    substeps: IntProperty(name="Steps per Frame", default=2, min=1, soft_max=20, max=1000,
                          description="More steps: finer motion, longer bakes")
    contact: BoolProperty(name="Contact", default=True,
                          description="Bodies meet each other, themselves and colliders, and never "
                                      "intersect")
    friction: FloatProperty(name="Friction", default=0.3, min=0, soft_max=1.5,
                            description="Coefficient of friction: 0 is ice, 1 is rubber on stone")
    distance: FloatProperty(name="Gap", default=0, min=0, soft_max=0.1, unit="LENGTH", precision=4,
                            description="Distance at which surfaces begin to push each other away; "
                                        "0: a tenth of an edge")
    start: EnumProperty(name="At the Start", default="untangle", items=[
        ("untangle", "Untangle", "What intersects is moved apart first, as little as possible"),
        ("relax", "Relax", "Close surfaces begin without force; intersections are rejected"),
        ("strict", "Strict", "Close surfaces push at once; intersections are rejected")])
    wind: FloatVectorProperty(name="Wind (m/s)", default=(0, 0, 0), subtype="VELOCITY",
                              description="Velocity of the air")
    checkpoints: IntProperty(name="Keep States Every", default=1, min=0, soft_max=50,
                             description="Frames from which Bake from Here can start: every Nth; "
                                         "0: none, which saves space on the disk")
    threads: IntProperty(name="Threads", default=0, min=0, max=256,
                         description="Of the bake; 0: one for each core")
    folder: StringProperty(name="Cache", default="", subtype="DIR_PATH",
                           description="Where bakes are kept; empty: next to the .blend file")
    progress: FloatProperty(min=0, max=100, precision=0, subtype="PERCENTAGE",
                            options={"SKIP_SAVE"})
    status: StringProperty(options={"SKIP_SAVE"})
    error: StringProperty(options={"SKIP_SAVE"})
    warning: StringProperty(options={"SKIP_SAVE"})


class BrioPreferences(bpy.types.AddonPreferences):
    """Of the add-on."""

    bl_idname = __package__
    program: StringProperty(name="Program", default="", subtype="FILE_PATH",
                            description="The program brio; empty: that of the PATH, or the one "
                                        "next to the add-on")

    def draw(self, _context):
        from . import job
        self.layout.prop(self, "program")
        try:
            self.layout.label(text=job.program_version(), icon="CHECKMARK")
        except Exception as problem:
            self.layout.label(text=str(problem), icon="ERROR")


CLASSES = (BrioObject, BrioScene, BrioPreferences)


def register():
    for item in CLASSES:
        bpy.utils.register_class(item)
    bpy.types.Object.brio = PointerProperty(type=BrioObject)
    bpy.types.Scene.brio = PointerProperty(type=BrioScene)


def unregister():
    del bpy.types.Scene.brio
    del bpy.types.Object.brio
    for item in reversed(CLASSES):
        bpy.utils.unregister_class(item)
