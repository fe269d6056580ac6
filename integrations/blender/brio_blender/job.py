"""A bake: frames are sampled, the program runs, its frames become caches while it does.

The work is a generator that is asked for a piece of it at a time, by the modal operator ten times
a second or, without a window, in a loop. One bake runs at a time.
"""
import os
import re
import time
import traceback

import bpy

from . import compat, sample
from .core import messages, process, scene as scenes
from .core.cache import Cache

current = None  # the bake that runs


def find_program(context):
    preferences = compat.preferences(context, __package__)
    preferred = bpy.path.abspath(preferences.program) if preferences else ""
    return process.find_program(preferred, os.path.dirname(os.path.abspath(__file__)))


def program_version():
    program = find_program(bpy.context)
    return "%s: %s" % (program, process.run(program, "--version")[1].split("\n")[0])


def cache_folder(scene):
    """Where the bake of a scene is."""
    blend = os.path.splitext(bpy.path.basename(bpy.data.filepath))[0]
    name = re.sub(r"[^\w.-]", "_", "%s-%s" % (blend or "unsaved", scene.name))
    if scene.brio.folder:
        return os.path.join(os.path.abspath(bpy.path.abspath(scene.brio.folder)), name)
    if bpy.data.filepath:
        return os.path.join(bpy.path.abspath("//"), "brio_cache", name)
    return os.path.join(bpy.app.tempdir, "brio_cache", name)


def cache_of(scene):
    return Cache.load(cache_folder(scene))


def relative(path):
    """As the .blend file should keep it."""
    return bpy.path.relpath(path) if bpy.data.filepath else path


# ---- results on objects ---------------------------------------------------------------------


def attach(cache):
    """The modifier that shows the bake, on every object of it."""
    for body in cache.data["bodies"]:
        thing = bpy.data.objects.get(body["name"])
        if thing is None:
            continue
        modifier = thing.modifiers.get(sample.MODIFIER)
        if modifier is None or modifier.type != "MESH_CACHE":
            index = sample.leading(thing)
            modifier = thing.modifiers.new(sample.MODIFIER, "MESH_CACHE")
            compat.move_modifier(thing, modifier.name, index)
            modifier = thing.modifiers[sample.MODIFIER]
        modifier.cache_format = "PC2"
        modifier.deform_mode = "OVERWRITE"
        modifier.interpolation = "LINEAR"
        modifier.time_mode = "FRAME"
        modifier.play_mode = "SCENE"
        modifier.frame_start = cache.data["first"]
        modifier.frame_scale = 1.0
        modifier.filepath = relative(os.path.join(cache.folder, body["file"]))
        modifier.show_viewport = modifier.show_render = True


def _modifiers(scene):
    """(object, modifier) of all that show a bake."""
    for thing in scene.objects:
        modifier = thing.modifiers.get(sample.MODIFIER) if thing.type == "MESH" else None
        if modifier and modifier.type == "MESH_CACHE":
            yield thing, modifier


def detach(scene):
    for thing, modifier in list(_modifiers(scene)):
        thing.modifiers.remove(modifier)


def pause(scene):
    """Modifiers keep their place and show nothing until there is a frame."""
    for _, modifier in _modifiers(scene):
        modifier.filepath = ""


def refresh(cache):
    """Shows frames that came since."""
    for body in cache.data["bodies"]:
        thing = bpy.data.objects.get(body["name"])
        if thing:
            thing.update_tag(refresh={"DATA"})


# ---- messages -------------------------------------------------------------------------------


def clear_messages(scene):
    scene.brio.error = scene.brio.warning = ""
    for thing in scene.objects:
        if thing.brio.error:
            thing.brio.error = ""
        if thing.brio.warning:
            thing.brio.warning = ""


def show_messages(scene, found):
    """Each at its objects; errors without one at the scene."""
    for message in found:
        things = [scene.objects[name] for name in message.objects if name in scene.objects]
        for thing in things:
            kind = "warning" if message.warning else "error"
            before = getattr(thing.brio, kind)
            setattr(thing.brio, kind, before + "\n" + message.text if before else message.text)
        if message.warning and not things:
            scene.brio.warning = (scene.brio.warning + "\n" + message.text).strip()
        if not message.warning and not scene.brio.error:
            where = "%s: " % things[0].name if things else ""
            scene.brio.error = where + message.text


# ---- the bake -------------------------------------------------------------------------------


class Job:
    """`mode`: BAKE from the start, RESUME a cancelled bake, HERE from the current frame on."""

    def __init__(self, context, mode):
        self.scene_name, self.mode = context.scene.name, mode
        self.cache = cache_of(context.scene)
        self.run = None
        self.cancelled = self.ended = self.failed = False
        self.pieces = {"BAKE": self._bake, "RESUME": self._resume,
                       "HERE": self._here}[mode](context)

    @property
    def scene(self):
        return bpy.data.scenes.get(self.scene_name)

    def said(self, kind="status"):
        """What stands in the panel of its scene, which may have been renamed or removed."""
        return getattr(self.scene.brio, kind) if self.scene else ""

    def tell(self, fraction, text):
        scene = self.scene
        if scene:
            scene.brio.progress = 100 * max(0.0, min(fraction, 1.0))
            scene.brio.status = text

    def tick(self, seconds=0.05):
        """Works for about so long; False: it has ended."""
        until = time.monotonic() + seconds
        try:
            while not self.ended and not self.cancelled and time.monotonic() < until:
                if next(self.pieces) == "wait":
                    break
            if self.cancelled:
                self.end()
        except StopIteration:
            self.ended = True
        except sample.Refused as problem:
            self._fail([messages.Message([problem.name] if problem.name else [], problem.text)])
        except (OSError, ValueError, process.NotFound) as problem:
            self._fail([messages.Message([], str(problem))])
        except ReferenceError:  # an undo, while frames were looked at
            self._fail([messages.Message([], "the scene was changed meanwhile: bake again")])
        except Exception as problem:  # of Blender, or a mistake here: it has ended
            traceback.print_exc()
            self._fail([messages.Message([], "%s: %s (the console has more)" %
                                         (type(problem).__name__, problem))])
        return not self.ended

    def _fail(self, found):
        self.failed = True
        restored = self._restore()
        if self.scene:
            show_messages(self.scene, found)
            self.tell(0, "Not baked: see the error" + restored)
        self.end()

    def _restore(self):
        """A bake that this one would have replaced stays if no frame came. Says so."""
        if self.cache.advanced or not self.cache.restore():
            return ""
        attach(self.cache)
        refresh(self.cache)
        return " (the previous bake is kept)"

    def end(self):
        """Nothing of it runs any more."""
        if self.run and self.run.running:
            self.run.cancel()
        self.pieces.close()
        self.cache.close()
        self.ended = True

    def cancel(self):
        """Ends it within a second; what was baked so far stays."""
        self.cancelled = True
        if self.run:
            self.run.cancel()
            if not self.ended:
                self._conclude()
        else:
            self.tell(0, "Cancelled: nothing was baked" + self._restore())
        self.end()

    # ---- the three ways -----------------------------------------------------------------------

    def _bake(self, context):
        find_program(context)
        scene = context.scene
        clear_messages(scene)
        self._check_range(scene)
        yield from self._start(context, scene.frame_start, 0, None)

    def _here(self, context):
        scene, data = context.scene, self.cache.data
        clear_messages(scene)
        self._check_range(scene)
        wanted = min(scene.frame_current - data["first"], self.cache.read - 1)
        number, state = self.cache.checkpoint(wanted)
        if number is None:
            raise sample.Refused("", "no state was kept at or before this frame: bake with Keep "
                                     "States Every 1, or go to a frame that is baked")
        if number == 0:
            yield from self._start(context, data["first"], 0, None)
        else:
            yield from self._start(context, data["first"], number, state)

    def _check_range(self, scene):
        if scene.frame_end <= scene.frame_start:
            raise sample.Refused("", "the frame range is empty: make the end of the scene larger "
                                     "than its start")

    def _start(self, context, first, keep, state):
        """Samples all frames, writes the scene and runs it."""
        scene = context.scene
        program, frames = find_program(context), scene.frame_end - first
        shown = scene.frame_current
        if not keep:
            pause(scene)
        folder = self.cache.begin(first, frames, keep, state)
        self.cache.data["frame_end"] = scene.frame_end
        things = sample.objects(context, *sample.BODIES)
        try:
            with sample.before_cache(things):
                scene.frame_set(first)
                sampler = sample.Sampler(context, folder)
                try:
                    sampler.start()
                    for frame in range(first + 1, scene.frame_end + 1 if sampler.moves() else 0):
                        self.tell(0, "Looking at frame %d of %d" % (frame, scene.frame_end))
                        yield "piece"
                        scene.frame_set(frame)
                        sampler.frame()
                finally:
                    sampler.abandon()
                sampler.finish()
        finally:
            scene.frame_set(shown)
        settings = sample.settings_of(scene, frames, sampler)
        show_messages(scene, [messages.Message([], text, True)
                              for text in sample.questions(scene, settings, sampler)])
        path = scenes.write(folder, settings, sampler.bodies, sampler.colliders, sampler.floors)
        self.cache.set_bodies([(body.name, len(body.points), sampler.matrices[body.name])
                               for body in sampler.bodies])
        self.cache.data["obstacles"] = [thing.name for thing in
                                        [*sampler.colliders, *sampler.floors]]
        self.cache.save()
        yield from self._run(program, path, scene.brio.threads, False)

    def _resume(self, context):
        scene, folder = context.scene, self.cache.run_folder()
        path = folder and os.path.join(folder, scenes.SCENE)
        if not path or not os.path.isfile(path):
            raise sample.Refused("", "there is no bake to go on with: press Bake")
        clear_messages(scene)
        yield from self._run(find_program(context), path, scene.brio.threads, True)

    # ---- the process --------------------------------------------------------------------------

    def _run(self, program, path, threads, resume):
        """No object or scene is kept here: an undo makes new ones."""
        cache = self.cache
        cache.open()
        shown = False
        self.run = process.Run(program, path, cache.results(), resume, cache.start_file(), threads)
        while self.run.running:
            if cache.poll():
                if not shown:  # with no frame to show, the modifier would complain
                    attach(cache)
                shown = True
                refresh(cache)
            self.tell(max(cache.read - 1, 0) / max(cache.data["frames"], 1), self._sentence())
            yield "wait"
        self.run.wait()
        self._conclude()

    def _sentence(self):
        data, left = self.cache.data, self.run.remaining()
        text = "Frame %d of %d" % (data["first"] + max(self.cache.read - 1, 0),
                                   data["first"] + data["frames"])
        contacts = self.run.progress.get("contacts", 0)
        if contacts:
            text += ", %d contacts" % contacts
        if left is not None:
            text += ", %d:%02d left" % divmod(int(left + 0.5), 60)
        inside = self.run.progress.get("inside", 0)
        if inside:
            text += " (a step takes %.0f s so far)" % inside
        return text

    def _messages(self):
        """What the run had to say: warnings, and why it failed if it did."""
        run, data = self.run, self.cache.data
        names = [body["name"] for body in data["bodies"]], data["obstacles"]
        found = messages.parse_all(run.errors, *names)
        warnings = [message for message in found if message.warning]
        verdict, reason = run.summary.get("verdict"), run.summary.get("reason")
        if self.cancelled or verdict in ("completed", "stopped"):
            return warnings
        if reason:
            about = messages.parse(reason, *names)
            return warnings + [messages.Message(about.objects, "%s: %s" % (verdict, about.text))]
        return found or [messages.Message([], "brio ended without a word (exit code %s)" %
                                          run.process.returncode)]

    def _conclude(self):
        """What became of the run, on objects and in the panel."""
        cache, verdict = self.cache, self.run.summary.get("verdict")
        while cache.poll():
            pass
        found = self._messages()
        self.failed = any(not message.warning for message in found)
        last = cache.data["first"] + max(cache.read - 1, 0)
        done = "baked" if verdict == "completed" else "part"
        if self.scene:
            show_messages(self.scene, found)
        restored = self._restore()
        if restored:
            self.tell(0, "Not baked" + (": see the error" if self.failed else "") + restored)
            return
        cache.finish(done if cache.read else "empty")
        whole = verdict == "completed"
        text = "Baked, frames %d to %d" % (cache.data["first"], last) if whole else \
            "Baked up to frame %d" % last if cache.read > 1 else "Not baked"
        self.tell(1.0 if whole else max(cache.read - 1, 0) / max(cache.data["frames"], 1),
                  text + (": see the error" if self.failed else ""))
        if cache.read:
            attach(cache)
            refresh(cache)
        elif self.scene:
            detach(self.scene)


def start(context, mode):
    """A bake that others can ask for pieces; there must be none."""
    global current
    current = Job(context, mode)
    return current


def is_running():
    return current is not None and not current.ended


def stop(*_):
    """Before another file is loaded, and at the end."""
    global current
    if is_running():
        current.cancel()
    current = None


@bpy.app.handlers.persistent
def _before_load(*_):
    stop()


def register():
    bpy.app.handlers.load_pre.append(_before_load)


def unregister():
    stop()
    bpy.app.handlers.load_pre.remove(_before_load)
