"""Panels of the Physics tab: the object, then the scene and its bake."""
import textwrap

import bpy

from . import compat, job
from .properties import NUMBERS


def draw_text(layout, text, icon, width):
    """A sentence that may need several lines; `width`: of the region, in pixels."""
    scale = max(bpy.context.preferences.system.ui_scale, 0.1)
    characters = max(int((width / scale - 70) / 6.4), 16)
    box = layout.box().column(align=True)
    for paragraph in text.split("\n"):
        for i, line in enumerate(textwrap.wrap(paragraph, characters) or [""]):
            box.label(text=line, icon=icon if i == 0 else "BLANK1")


class _Panel:
    bl_space_type = "PROPERTIES"
    bl_region_type = "WINDOW"
    bl_context = "physics"

    @classmethod
    def poll(cls, context):
        return context.object is not None and context.object.type == "MESH"


class BRIO_PT_object(_Panel, bpy.types.Panel):
    """Of the object."""

    bl_idname = "BRIO_PT_object"
    bl_label = "brio"

    def draw(self, context):
        layout, thing = self.layout, context.object
        props = thing.brio
        layout.use_property_split = True
        layout.use_property_decorate = False
        role = layout.row()
        role.enabled = not job.is_running()
        role.prop(props, "role")
        width = context.region.width
        if props.error:
            draw_text(layout, props.error, "ERROR", width)
            if " meets " in props.error:
                layout.operator("brio.show_intersections", icon="SELECT_INTERSECT")
        if props.warning:
            draw_text(layout, props.warning, "INFO", width)
        column = layout.column()
        column.enabled = not job.is_running()
        if props.role in ("SOFT", "CLOTH", "SPRINGS", "RIGID"):
            self._material(column, props)
            self._pins(column, thing, props)
            if props.role != "RIGID":
                column.prop(props, "self_contact")
        elif props.role == "COLLIDER":
            column.prop(props, "animated")

    def _material(self, column, props):
        if props.role == "SPRINGS":
            column.prop(props, "stiffness")
            column.prop(props, "vertex_mass")
            return
        choice = "sheet" if props.role == "CLOTH" else "solid"
        column.prop(props, choice)
        if getattr(props, choice) == NUMBERS:
            column.prop(props, "young")
            if props.role != "RIGID":
                column.prop(props, "poisson")
            if props.role == "CLOTH":
                column.prop(props, "thickness")
                column.prop(props, "areal")
            else:
                column.prop(props, "density")
        if props.role == "SOFT":
            column.prop(props, "inside")
            if props.inside == "CAGE":
                column.prop(props, "cells")

    def _pins(self, column, thing, props):
        column.prop_search(props, "pins", thing, "vertex_groups")
        if props.pins:
            column.prop(props, "pin_stiffness")
            column.prop(props, "animated", text="Pins Follow the Animation")


class BRIO_PT_bake(_Panel, bpy.types.Panel):
    """Of the scene: its bake."""

    bl_idname = "BRIO_PT_bake"
    bl_label = "brio Bake"

    def draw(self, context):
        layout, scene = self.layout, context.scene
        props = scene.brio
        width = context.region.width
        if job.is_running():
            layout.operator("brio.cancel", icon="CANCEL")
            compat.draw_progress(layout, props, "progress", "Done")
        else:
            row = layout.row()
            row.scale_y = 1.4
            row.operator("brio.bake", icon="PHYSICS")
            layout.operator("brio.bake_from_here", icon="KEYFRAME_HLT")
            row = layout.row(align=True)
            row.operator("brio.resume", icon="PLAY")
            row.operator("brio.free", icon="TRASH")
        if props.status:
            draw_text(layout, props.status, "TIME" if job.is_running() else "DOT", width)
        self._errors(layout, context, props, width)
        if not bpy.data.filepath and not props.folder:
            draw_text(layout, "The file is not saved: its bake is lost when Blender closes",
                      "INFO", width)
        layout.operator("brio.show_intersections", icon="SELECT_INTERSECT")
        layout.operator("brio.open_report", icon="URL")

    def _errors(self, layout, context, props, width):
        """Errors stand at their objects, and the way to them here."""
        things = [thing for thing in context.scene.objects if thing.brio.error]
        if props.error and not things:
            draw_text(layout, props.error, "ERROR", width)
        for thing in things:
            if thing == context.object:
                layout.label(text="%s: see above" % thing.name, icon="ERROR")
            else:
                layout.operator("brio.select", text="Error: go to %s" % thing.name,
                                icon="ERROR").name = thing.name
        if props.warning:
            draw_text(layout, props.warning, "INFO", width)


class _Section(_Panel):
    bl_parent_id = "BRIO_PT_bake"

    def column(self):
        self.layout.use_property_split = True
        self.layout.use_property_decorate = False
        column = self.layout.column()
        column.enabled = not job.is_running()
        return column


class BRIO_PT_motion(_Section, bpy.types.Panel):
    """Method and steps."""

    bl_idname = "BRIO_PT_motion"
    bl_label = "Motion"

    def draw(self, context):
        scene, column = context.scene, self.column()
        props = scene.brio
        column.prop(props, "method")
        if props.method == "a-search":
            row = column.row()
            row.prop(props, "energy", expand=True)
            if props.energy == "DECAY":
                column.prop(props, "decay")
        column.prop(props, "quality")
        column.prop(props, "substeps")
        fps = scene.render.fps / scene.render.fps_base
        column.label(text="A step is 1/%g s" % (fps * props.substeps))
        column.prop(scene, "use_gravity")
        sub = column.column()
        sub.active = scene.use_gravity
        sub.prop(scene, "gravity")
        column.prop(props, "wind")


class BRIO_PT_contact(_Section, bpy.types.Panel):
    """What happens where surfaces meet."""

    bl_idname = "BRIO_PT_contact"
    bl_label = "Contact"

    def draw_header(self, context):
        self.layout.enabled = not job.is_running()
        self.layout.prop(context.scene.brio, "contact", text="")

    def draw(self, context):
        column, props = self.column(), context.scene.brio
        column.active = props.contact
        column.prop(props, "friction")
        column.prop(props, "distance")
        column.prop(props, "start")


class BRIO_PT_cache(_Section, bpy.types.Panel):
    """Where results are."""

    bl_idname = "BRIO_PT_cache"
    bl_label = "Cache"
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context):
        column, props = self.column(), context.scene.brio
        column.prop(props, "folder")
        column.prop(props, "checkpoints")
        column.prop(props, "threads")


def draw_add(self, context):
    """A button among those of the Physics tab."""
    thing = context.object
    if thing and thing.type == "MESH" and thing.brio.role == "NONE":
        self.layout.operator_menu_enum("brio.add", "role", text="brio", icon="PHYSICS")


CLASSES = (BRIO_PT_object, BRIO_PT_bake, BRIO_PT_motion, BRIO_PT_contact, BRIO_PT_cache)


def register():
    for item in CLASSES:
        bpy.utils.register_class(item)
    bpy.types.PHYSICS_PT_add.append(draw_add)


def unregister():
    bpy.types.PHYSICS_PT_add.remove(draw_add)
    for item in reversed(CLASSES):
        bpy.utils.unregister_class(item)
