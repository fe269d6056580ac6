"""Operators: roles, bake, resume, cancel, free, intersections, report."""
import json
import os
import pathlib
import tempfile
import time
import webbrowser

import bpy
from bpy.props import EnumProperty, StringProperty

from . import job, sample
from .core import messages, process, scene as scenes
from .properties import ROLES


def _redraw(context):
    """Of panels; views draw themselves when objects change."""
    for window in context.window_manager.windows:
        for area in window.screen.areas:
            if area.type == "PROPERTIES":
                area.tag_redraw()


def _leave_edit_mode(context):
    """What is edited is part of the mesh only then."""
    if context.object and context.object.mode != "OBJECT":
        bpy.ops.object.mode_set(mode="OBJECT")


class BRIO_OT_add(bpy.types.Operator):
    """Let brio simulate the selected objects, or have others meet them"""

    bl_idname = "brio.add"
    bl_label = "brio"
    bl_options = {"REGISTER", "UNDO"}
    role: EnumProperty(name="Role", items=ROLES, default="SOFT")

    @classmethod
    def poll(cls, context):
        return context.object is not None and context.object.type == "MESH"

    def execute(self, context):
        things = {thing for thing in context.selected_objects if thing.type == "MESH"}
        for thing in things | {context.object}:
            thing.brio.role = self.role
        return {"FINISHED"}


class _Bake:
    """Shared by the three ways to bake."""

    bl_options = {"REGISTER"}
    mode = "BAKE"
    timer = None

    @classmethod
    def poll(cls, context):
        return context.scene is not None and not job.is_running() and cls._fits(context.scene)

    @staticmethod
    def _fits(_scene):
        """Whether there is something to bake in this way."""
        return True

    def execute(self, context):
        """To the end, as scripts and background sessions want it."""
        _leave_edit_mode(context)
        work = job.start(context, self.mode)
        while work.tick(0.2):
            time.sleep(0.02)
        return self._ended(context, work)

    def invoke(self, context, _event):
        if bpy.app.background:
            return self.execute(context)
        _leave_edit_mode(context)
        work = job.start(context, self.mode)
        self.timer = context.window_manager.event_timer_add(0.1, window=context.window)
        context.window_manager.modal_handler_add(self)
        work.tick(0.01)
        return {"RUNNING_MODAL"}

    def modal(self, context, event):
        if event.type != "TIMER":
            return {"PASS_THROUGH"}
        work = job.current
        said = work.said() if work else ""
        if work is not None and work.tick(0.08):
            if work.said() != said:
                _redraw(context)
            return {"PASS_THROUGH"}
        context.window_manager.event_timer_remove(self.timer)
        return self._ended(context, work) if work else {"CANCELLED"}

    def cancel(self, _context):
        job.stop()

    def _ended(self, context, work):
        _redraw(context)
        if work.failed:
            self.report({"WARNING"}, work.said("error") or "not baked")
            return {"CANCELLED"}
        if not work.cancelled and work.scene:
            self.report({"INFO"}, work.said())
        return {"FINISHED"}


class BRIO_OT_bake(_Bake, bpy.types.Operator):
    """Simulate all frames of the scene; the objects move while it goes on"""

    bl_idname = "brio.bake"
    bl_label = "Bake"


class BRIO_OT_resume(_Bake, bpy.types.Operator):
    """Go on with a bake that was cancelled, as it was begun"""

    bl_idname = "brio.resume"
    bl_label = "Resume"
    mode = "RESUME"

    @staticmethod
    def _fits(scene):
        return job.cache_of(scene).data["state"] in ("part", "begun")  # begun: a crash


class BRIO_OT_bake_from_here(_Bake, bpy.types.Operator):
    """Keep the bake up to the current frame and simulate from there on, with the settings as they \
are now"""

    bl_idname = "brio.bake_from_here"
    bl_label = "Bake from Here"
    mode = "HERE"

    @staticmethod
    def _fits(scene):
        cache = job.cache_of(scene)
        return cache.read > 1 and scene.frame_current > cache.data["first"]


class BRIO_OT_cancel(bpy.types.Operator):
    """End the bake; what is baked so far stays and can be resumed"""

    bl_idname = "brio.cancel"
    bl_label = "Cancel"

    @classmethod
    def poll(cls, _context):
        return job.is_running()

    def execute(self, context):
        job.current.cancel()
        _redraw(context)
        return {"FINISHED"}


class BRIO_OT_free(bpy.types.Operator):
    """Remove the bake from the objects and from the disk"""

    bl_idname = "brio.free"
    bl_label = "Free"

    @classmethod
    def poll(cls, context):
        return not job.is_running() and job.cache_of(context.scene).data["state"] != "empty"

    def execute(self, context):
        job.detach(context.scene)
        job.cache_of(context.scene).clear()
        job.clear_messages(context.scene)
        context.scene.brio.status = ""
        context.scene.brio.progress = 0
        return {"FINISHED"}


class BRIO_OT_show_intersections(bpy.types.Operator):
    """Select the vertices of all edges and faces that meet at the first frame"""

    bl_idname = "brio.show_intersections"
    bl_label = "Show Intersections"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, _context):
        return not job.is_running()

    def execute(self, context):
        scene = context.scene
        _leave_edit_mode(context)
        job.clear_messages(scene)
        try:
            answer, found = self._ask(context)
        except (sample.Refused, process.NotFound, OSError, ValueError) as problem:
            name = getattr(problem, "name", "")
            job.show_messages(scene, [messages.Message([name] if name else [], str(problem))])
            self.report({"WARNING"}, scene.brio.error)
            return {"CANCELLED"}
        job.show_messages(scene, found)
        meeting = {entry.get("body") or entry.get("obstacle"): entry["vertices"]
                   for entry in answer.get("intersecting_vertices", [])}
        count = self._select(context, meeting)
        if count:
            self.report({"WARNING"}, "%d pairs of edges and faces intersect at the first frame: "
                        "their %d vertices are selected" % (answer["intersections"], count))
        elif scene.brio.error:
            self.report({"WARNING"}, scene.brio.error)
        else:
            self.report({"INFO"}, "Nothing intersects at the first frame")
        return {"FINISHED"}

    def _ask(self, context):
        """The answer of `brio check`, and what it says of objects."""
        scene, program = context.scene, job.find_program(context)
        shown = scene.frame_current
        with tempfile.TemporaryDirectory() as folder:
            try:
                with sample.before_cache(sample.objects(context, *sample.BODIES)):
                    scene.frame_set(scene.frame_start)
                    sampler = sample.Sampler(context, folder, still=True)
                    sampler.start()
            finally:
                scene.frame_set(shown)
            settings = sample.settings_of(scene, 1, sampler)
            scenes.write(folder, settings, sampler.bodies, sampler.colliders, sampler.floors)
            code, said, complaint = process.run(program, "check", scenes.SCENE, "--json", "-o",
                                                os.path.join(folder, "meeting.obj"), cwd=folder)
        names = ([body.name for body in sampler.bodies],
                 [thing.name for thing in [*sampler.colliders, *sampler.floors]])
        found = messages.parse_all(complaint.splitlines(), *names)
        if code == 2 or not said.strip():
            return {}, found
        answer = json.loads(said)
        for text in answer.get("findings", []):
            message = messages.parse(text, *names)
            if message:
                found.append(message._replace(warning=text in answer["warnings"]))
        return answer, found

    def _select(self, context, meeting):
        """The vertices, in edit mode; returns how many there are."""
        things = [context.scene.objects[name] for name in meeting
                  if name in context.scene.objects]
        if not things:
            return 0
        for thing in context.selected_objects:
            thing.select_set(False)
        count = 0
        for thing in things:
            mesh, numbers = thing.data, meeting[thing.name]
            mesh.polygons.foreach_set("select", [False] * len(mesh.polygons))
            mesh.edges.foreach_set("select", [False] * len(mesh.edges))
            chosen = [False] * len(mesh.vertices)
            for number in numbers:
                if number < len(chosen):  # a modifier of a collider may have made the others
                    chosen[number] = True
            mesh.vertices.foreach_set("select", chosen)
            count += sum(chosen)
            thing.select_set(True)
        context.view_layer.objects.active = things[0]
        context.tool_settings.mesh_select_mode = (True, False, False)
        bpy.ops.object.mode_set(mode="EDIT")
        return count


class BRIO_OT_open_report(bpy.types.Operator):
    """Open the report of the bake in the browser: energies, times, the motion in 3D"""

    bl_idname = "brio.open_report"
    bl_label = "Open Report"

    @classmethod
    def poll(cls, context):
        results = job.cache_of(context.scene).results()
        return bool(results) and os.path.isfile(os.path.join(results, "report.html"))

    def execute(self, context):
        path = os.path.join(job.cache_of(context.scene).results(), "report.html")
        webbrowser.open(pathlib.Path(path).as_uri())
        return {"FINISHED"}


class BRIO_OT_select(bpy.types.Operator):
    """Select this object"""

    bl_idname = "brio.select"
    bl_label = "Select"
    bl_options = {"REGISTER", "UNDO"}
    name: StringProperty()

    def execute(self, context):
        thing = context.scene.objects.get(self.name)
        if thing is None:
            return {"CANCELLED"}
        _leave_edit_mode(context)
        for other in context.selected_objects:
            other.select_set(False)
        thing.select_set(True)
        context.view_layer.objects.active = thing
        return {"FINISHED"}


CLASSES = (BRIO_OT_add, BRIO_OT_bake, BRIO_OT_resume, BRIO_OT_bake_from_here, BRIO_OT_cancel,
           BRIO_OT_free, BRIO_OT_show_intersections, BRIO_OT_open_report, BRIO_OT_select)


def register():
    for item in CLASSES:
        bpy.utils.register_class(item)


def unregister():
    for item in reversed(CLASSES):
        bpy.utils.unregister_class(item)
