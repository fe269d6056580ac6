"""What the add-on does without Blender: scene files, the process, frames, messages.

Nothing here imports bpy, so that `make test` can test it alone. Lengths are metres and y is up, as
in brio; space.py has the way from and to Blender.
"""
