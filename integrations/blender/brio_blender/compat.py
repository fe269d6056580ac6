"""What differs between versions of Blender, from 3.4 on: all of it is here."""
import bpy


def draw_progress(layout, owner, name, text):
    """A bar for the property `name` of `owner`, in percent."""
    if hasattr(layout, "progress"):  # 4.0 and later
        layout.progress(factor=getattr(owner, name) / 100, type="BAR", text=text)
        return
    bar = layout.row()
    bar.enabled = False
    bar.prop(owner, name, text=text, slider=True)


def move_modifier(thing, name, index):
    """Puts a modifier of an object at a place of the stack."""
    modifiers = thing.modifiers
    if hasattr(modifiers, "move"):  # 3.5 and later
        modifiers.move(modifiers.find(name), index)
        return
    with bpy.context.temp_override(object=thing, active_object=thing):
        bpy.ops.object.modifier_move_to_index(modifier=name, index=index)


def preferences(context, package):
    """Of the add-on; None where it was registered without being enabled (in scripts)."""
    addon = context.preferences.addons.get(package)
    return addon.preferences if addon else None
