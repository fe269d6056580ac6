"""From Blender's space to brio's and back: z up to y up, scene units to metres."""
import numpy as np

# (x, y, z) of Blender is (x, z, -y) of brio: a turn, so that what was right-handed stays so.
TURN = np.array([[1.0, 0, 0], [0, 0, 1], [0, -1, 0]])


def to_brio(matrix_world, metres=1.0):
    """The 4 x 4 matrix from an object's own coordinates to brio's world.

    `metres`: the length of a Blender unit (scene.unit_settings.scale_length).
    """
    world = np.asarray(matrix_world, dtype=float)
    result = np.eye(4)
    result[:3, :3] = metres * TURN @ world[:3, :3]
    result[:3, 3] = metres * TURN @ world[:3, 3]
    return result


def vector(v, metres=1.0):
    """A direction or velocity of Blender's world in brio's."""
    return (metres * TURN @ np.asarray(v, dtype=float)).tolist()


def apply(matrix, points):
    """Points (n x 3) moved by a 4 x 4 matrix."""
    return points @ matrix[:3, :3].T + matrix[:3, 3]


def invert(matrix):
    """The inverse of such a matrix; ValueError if it makes things flat."""
    if abs(np.linalg.det(matrix[:3, :3])) < 1e-30:
        raise ValueError("its scale is zero along an axis: give it a scale (and apply it)")
    return np.linalg.inv(matrix)
