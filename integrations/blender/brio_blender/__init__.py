"""brio in Blender: soft bodies, cloth, springs and nearly rigid bodies with contact.

`core` needs no Blender. The other modules are a thin layer over it: properties, panels, operators.
docs/blender.md is the manual.
"""

bl_info = {
    "name": "brio",
    "author": "The brio authors",
    "version": (0, 1, 0),
    "blender": (3, 4, 0),
    "location": "Properties > Physics",
    "description": "Soft bodies, cloth and contact by brio",
    "category": "Physics",
}


def _modules():
    """Imported late: `core` can be used, and tested, where there is no bpy."""
    from . import job, operators, panels, properties
    return properties, job, operators, panels


def register():
    for module in _modules():
        module.register()


def unregister():
    for module in reversed(_modules()):
        module.unregister()
