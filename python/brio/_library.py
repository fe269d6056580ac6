"""The shared library: where it is, whether it fits, and its functions as ctypes sees them.

The numbers and layouts here are those of ``brio/brio.h``; ``tests/python/test_layout.py`` compares
them with the compiler's.
"""
from __future__ import annotations

import ctypes
import enum
import os
import pathlib
import shutil
import sys
from ctypes import (
    CFUNCTYPE,
    POINTER,
    Structure,
    byref,
    c_char,
    c_char_p,
    c_double,
    c_int,
    c_int32,
    c_int64,
    c_size_t,
    c_uint,
    c_void_p,
)
from typing import Any, Dict, List, Optional

ABI = 2  # BRIO_ABI of the header that this file was written after
MAX_VALUES = 112
MAX_DAMPING = 8
SCRATCH = 40

_double_p = POINTER(c_double)
_int32_p = POINTER(c_int32)


# ---- structs -------------------------------------------------------------------------------------


class CError(Structure):
    _fields_ = [
        ("status", c_int),
        ("line", c_int),
        ("column", c_int),
        ("file", c_char * 512),
        ("path", c_char * 128),
        ("message", c_char * 1024),
    ]


class CField(Structure):
    _fields_ = [
        ("name", c_char_p),
        ("type", c_int),
        ("unit", c_char_p),
        ("default_value", c_double),
        ("min", c_double),
        ("max", c_double),
        ("required", c_int),
        ("summary", c_char_p),
    ]


class CSource(Structure):
    _fields_ = [
        ("name", c_char_p),
        ("text", c_char_p),
        ("size", c_size_t),
        ("sets", POINTER(c_char_p)),
        ("set_count", c_int),
    ]


class CLedger(Structure):
    _fields_ = [
        ("time", c_double),
        ("kinetic", c_double),
        ("elastic", c_double),
        ("gravity", c_double),
        ("attachment", c_double),
        ("contact", c_double),
        ("potential", c_double),
        ("total", c_double),
        ("target", c_double),
        ("alpha", c_double),
        ("added", c_double),
        ("dissipated", c_double),
        ("_dissipated_by", c_double * (MAX_DAMPING + 1)),
        ("remainder", c_double),
        ("unfinished", c_double),
        ("_momentum", c_double * 3),
        ("_angular", c_double * 3),
        ("_centre", c_double * 3),
        ("friction", c_double),
        ("min_distance", c_double),
        ("rods", c_double),
        ("step", c_int64),
        ("iterations", c_int),
        ("contacts", c_int),
    ]


class CHand(Structure):
    _fields_ = [
        ("body", c_int),
        ("vertex", c_int64 * 3),
        ("weight", c_double * 3),
        ("k", c_double),
        ("point", c_double * 3),
        ("grip", c_double * 3),
    ]


class CIteration(Structure):
    _fields_ = [
        ("step", c_int64),
        ("time", c_double),
        ("h", c_double),
        ("halvings", c_int),
        ("iteration", c_int),
        ("speed", c_double),
        ("tol", c_double),
        ("contacts", c_int),
        ("moved", c_double),
        ("limit", c_char_p * 2),
        ("distance", c_double),
    ]


WatchFunction: Any = CFUNCTYPE(c_int, c_void_p, POINTER(CIteration))


class CProgress(Structure):
    _fields_ = [
        ("step", c_int64),
        ("steps", c_int64),
        ("time", c_double),
        ("end", c_double),
        ("energy", c_double),
        ("inside", POINTER(CIteration)),
    ]


ProgressFunction: Any = CFUNCTYPE(c_int, c_void_p, POINTER(CProgress))


class CRunDef(Structure):
    _fields_ = [
        ("source", CSource),
        ("out", c_char_p),
        ("force", c_int),
        ("resume", c_int),
        ("progress", ProgressFunction),
        ("user", c_void_p),
    ]


class CObjective(Structure):
    _fields_ = [
        ("target", c_void_p),
        ("s", c_double),
        ("a", c_double),
        ("time", c_double),
        ("h", c_double),
        ("weight", c_double),
        ("from_", c_void_p),
        ("over", c_double),
        ("massless", c_int),
        ("linear", c_int),
        ("undamped", c_int),
        ("blend_damping", c_int),
        ("rods_from_start", c_int),
        ("keeps_friction", c_int),
        ("iterations", c_int),
        ("guess", c_void_p),
    ]


StepFunction: Any = CFUNCTYPE(c_int, c_void_p, c_double)
CheckFunction: Any = CFUNCTYPE(c_int, _double_p, POINTER(c_uint), POINTER(c_char), c_size_t)


class CIntegrator(Structure):
    _fields_ = [
        ("name", c_char_p),
        ("summary", c_char_p),
        ("citation", c_char_p),
        ("order", c_int),
        ("history", c_int),
        ("traits", c_uint),
        ("fields", POINTER(CField)),
        ("step", StepFunction),
        ("check", CheckFunction),
        ("estimate", c_int),
        ("error_constant", c_double),
    ]


class CElements(Structure):
    _fields_ = [
        ("count", c_int64),
        ("nodes", c_int),
        ("values", _double_p),
        ("weight", _double_p),
        ("size", _double_p),
        ("rest", _double_p),
        ("x", _double_p),
        ("energy", c_void_p),
        ("gradient", c_void_p),
        ("hessian", c_void_p),
    ]


EvalFunction: Any = CFUNCTYPE(c_int, c_void_p, POINTER(CElements))


class CEnergyDef(Structure):
    _fields_ = [
        ("name", c_char_p),
        ("summary", c_char_p),
        ("citation", c_char_p),
        ("kind", c_int),
        ("fields", POINTER(CField)),
        ("user", c_void_p),
        ("eval", EvalFunction),
    ]


class CMesh(Structure):
    _fields_ = [
        ("vertex_count", c_int64),
        ("tet_count", c_int64),
        ("triangle_count", c_int64),
        ("edge_count", c_int64),
        ("x", c_void_p),
        ("tet", c_void_p),
        ("triangle", c_void_p),
        ("edge", c_void_p),
        ("edge_kind", c_void_p),
        ("faces", c_void_p),
        ("groups", c_void_p),
    ]


class CTriplets(Structure):
    _fields_ = [
        ("size", c_int64),
        ("count", c_int64),
        ("row", _int32_p),
        ("column", _int32_p),
        ("value", _double_p),
    ]


class CMaterial(Structure):
    _fields_ = [("type", c_char_p), ("values", c_double * MAX_VALUES)]


class CBodyDef(Structure):
    _fields_ = [
        ("name", c_char_p),
        ("mesh", POINTER(CMesh)),
        ("kind", c_int),
        ("material", CMaterial),
        ("linear", c_double * 9),
        ("translate", c_double * 3),
        ("velocity", c_double * 3),
        ("angular", c_double * 3),
        ("about", c_double * 3),
        ("state", c_void_p),
        ("spring", c_void_p),
        ("cage", c_int),
        ("decay", c_double),
        ("energy_scale", c_double),
    ]


class CForceCall(Structure):
    _fields_ = [
        ("time", c_double),
        ("count", c_int64),
        ("x", _double_p),
        ("v", _double_p),
        ("force", _double_p),
        ("hessian", _double_p),
    ]


ForceFunction: Any = CFUNCTYPE(c_double, c_void_p, POINTER(CForceCall))


class CForceDef(Structure):
    _fields_ = [
        ("name", c_char_p),
        ("type", c_char_p),
        ("values", c_double * MAX_VALUES),
        ("body_count", c_int),
        ("bodies", c_void_p),
        ("vertex_count", c_int64),
        ("vertices", c_void_p),
        ("box", c_double * 6),
        ("sphere", c_double * 4),
        ("key_count", c_int64),
        ("keys", c_void_p),
        ("formula_count", c_int),
        ("formula", c_char_p * 3),
        ("path_count", c_int64),
        ("path", c_void_p),
        ("function", ForceFunction),
        ("user", c_void_p),
        ("has_potential", c_int),
    ]


TypedForceFunction: Any = CFUNCTYPE(c_double, c_void_p, _double_p, POINTER(CForceCall))


class CForceTypeDef(Structure):
    _fields_ = [
        ("name", c_char_p),
        ("summary", c_char_p),
        ("citation", c_char_p),
        ("fields", POINTER(CField)),
        ("user", c_void_p),
        ("function", TypedForceFunction),
        ("has_potential", c_int),
    ]


LawFunction: Any = CFUNCTYPE(
    None, c_void_p, c_double, c_double, c_int, _double_p, _double_p, _double_p, _double_p
)


class CLawDef(Structure):
    _fields_ = [
        ("name", c_char_p),
        ("summary", c_char_p),
        ("citation", c_char_p),
        ("user", c_void_p),
        ("eval", LawFunction),
        ("unbounded", c_int),
    ]


class CContactDef(Structure):
    _fields_ = [
        ("law", c_char_p),
        ("dhat", c_double),
        ("self_", c_double),
        ("kappa", c_double),
        ("thickness", c_double),
        ("mu", c_double),
        ("epsv", c_double),
        ("friction_iterations", c_int),
        ("start", c_int),
        ("relax_time", c_double),
    ]


class CObstacleDef(Structure):
    _fields_ = [
        ("name", c_char_p),
        ("mesh", POINTER(CMesh)),
        ("linear", c_double * 9),
        ("translate", c_double * 3),
        ("script", c_void_p),
    ]


class CContactEvent(Structure):
    _fields_ = [
        ("a", c_int),
        ("b", c_int),
        ("change", c_int),
        ("contacts", c_int64),
        ("impulse", c_double * 3),
        ("pressing", c_double),
        ("place", c_double * 3),
        ("distance", c_double),
    ]


class CVertexBuffers(Structure):
    _fields_ = [
        ("position_float", c_void_p),
        ("normal_float", c_void_p),
        ("velocity_float", c_void_p),
        ("position", c_void_p),
        ("normal", c_void_p),
        ("velocity", c_void_p),
        ("stride", c_size_t),
    ]


class CEnd(Structure):
    _fields_ = [("body", c_int), ("vertex", c_int32), ("point", c_double * 3)]


class CConstraintDef(Structure):
    _fields_ = [
        ("type", c_char_p),
        ("name", c_char_p),
        ("a", CEnd),
        ("b", CEnd),
        ("at", c_double * 3),
        ("axis", c_double * 3),
        ("collide", c_int),
        ("values", c_double * MAX_VALUES),
    ]


class CStitchDef(Structure):
    _fields_ = [
        ("a", c_int),
        ("b", c_int),
        ("vertices", c_void_p),
        ("vertex_count", c_int64),
        ("edges", c_int),
        ("distance", c_double),
        ("k", c_double),
        ("rest", c_double),
        ("breaking", c_double),
    ]


class CSequence(Structure):
    _fields_ = [
        ("frame_count", c_int64),
        ("vertex_count", c_int64),
        ("time", c_void_p),
        ("x", c_void_p),
        ("triangle_count", c_int64),
        ("triangle", c_void_p),
        ("pose_count", c_int64),
        ("pose", c_void_p),
    ]


class CScript(Structure):
    _fields_ = [
        ("start", c_double),
        ("end", c_double),
        ("velocity", c_double * 3),
        ("angular", c_double * 3),
        ("about", c_double * 3),
        ("key_count", c_int64),
        ("keys", c_void_p),
        ("pose_count", c_int64),
        ("poses", c_void_p),
        ("sequence", POINTER(CSequence)),
        ("formula", c_char_p * 3),
        ("interpolation", c_int),
    ]


class CSolverOptions(Structure):
    _fields_ = [
        ("type", c_char_p),
        ("linear", c_char_p),
        ("tol", c_double),
        ("max_iterations", c_int),
        ("linear_tol", c_double),
        ("max_halvings", c_int),
        ("iterations", c_int),
        ("single_precision", c_int),
        ("memory", c_int),
        ("linear_options", c_char_p),
        ("quality", c_int),
    ]


class CDamping(Structure):
    _fields_ = [("type", c_char_p), ("values", c_double * MAX_VALUES)]


class CSimDef(Structure):
    _fields_ = [
        ("h", c_double),
        ("integrator", c_char_p),
        ("values", c_double * MAX_VALUES),
        ("damping_count", c_int),
        ("damping", CDamping * MAX_DAMPING),
        ("solver", CSolverOptions),
        ("tol", c_double),
        ("h_min", c_double),
        ("fps", c_double),
    ]


class CSteps(Structure):
    _fields_ = [
        ("automatic", c_int),
        ("rejected", c_int),
        ("tol", c_double),
        ("h_min", c_double),
        ("h_max", c_double),
        ("h", c_double),
        ("next_h", c_double),
        ("error", c_double),
    ]


LogFunction: Any = CFUNCTYPE(None, c_void_p, c_int, c_char_p)


# ---- finding the library -------------------------------------------------------------------------


def _candidates() -> List[str]:
    """Where libbrio may be, the likeliest first."""
    given = os.environ.get("BRIO_LIBRARY")
    if given:
        return [given]
    names = ["libbrio_python.so", f"libbrio.so.{ABI}"]  # the first has the commands inside
    here = pathlib.Path(__file__).resolve().parent
    folders = [here / "lib", here]  # of a wheel
    if (here.parents[1] / "include" / "brio" / "brio.h").is_file():  # a source tree: python/brio
        folders.append(here.parents[1] / "build")
    multiarch = getattr(sys.implementation, "_multiarch", "")
    # installed: PREFIX/lib/python3/dist-packages/brio and PREFIX/lib[/ARCHITECTURE]/libbrio.so.N
    for parent in here.parents:
        if parent.name in ("lib", "lib64"):
            folders += [parent / multiarch, parent]
    places = [folder / name for folder in folders for name in names]
    return [str(place) for place in places if place.is_file()] + names


def _bundled() -> List[pathlib.Path]:
    """Libraries that a wheel brings for the machines that lack them."""
    return sorted(
        file
        for file in (pathlib.Path(__file__).resolve().parent / "lib").glob("*.so*")
        if not file.name.startswith("libbrio")
    )


def program_environment() -> Dict[str, str]:
    """What the program is started with: it finds the libraries of a wheel."""
    found, environment = _bundled(), dict(os.environ)
    if found:
        others = environment.get("LD_LIBRARY_PATH")
        environment["LD_LIBRARY_PATH"] = str(found[0].parent) + (
            os.pathsep + others if others else ""
        )
    return environment


def find_program(place: str) -> Optional[str]:
    """The program that belongs to a library: BRIO_PROGRAM, next to it, in bin/ of its prefix, or in
    the PATH."""
    library = pathlib.Path(place).resolve()
    near = (
        [library.parent / "brio"]
        + [parent / "bin" / "brio" for parent in list(library.parents)[:3]]
        if "/" in place
        else []
    )
    for program in [os.environ.get("BRIO_PROGRAM", ""), *map(str, near)]:
        if program and os.path.isfile(program) and os.access(program, os.X_OK):
            return program
    return shutil.which("brio")


def _choose_kernels(library: ctypes.CDLL) -> None:
    """numpy may bring the OpenBLAS that ``linear: cholesky`` uses too, and OpenBLAS chooses its
    kernels when it is loaded: name those that brio's program takes, before numpy comes."""
    library.brio_isa.restype = c_char_p
    core = {b"avx512": "SkylakeX", b"avx2": "Haswell"}.get(library.brio_isa())
    if core:
        os.environ.setdefault("OPENBLAS_CORETYPE", core)


def _load() -> ctypes.CDLL:
    tried = []
    for place in _candidates():
        try:
            if os.path.dirname(place) == str(pathlib.Path(__file__).resolve().parent / "lib"):
                for file in _bundled():
                    ctypes.CDLL(str(file))
            library = ctypes.CDLL(place)
        except OSError as problem:
            tried.append(str(problem))
            continue
        if not hasattr(library, "brio_abi"):
            raise ImportError(f"{place} is not the library of brio")
        found = library.brio_abi()
        if found != ABI:
            raise ImportError(
                f"{place} has the binary interface {found} and this Python package needs {ABI}:"
                " install both from the same version of brio, or name another library in"
                " BRIO_LIBRARY"
            )
        missing = [function for function in _PROTOTYPES if not hasattr(library, function)]
        if missing:
            raise ImportError(
                f"{place} is older than this Python package: it lacks {', '.join(missing)}. Build"
                " and install it again"
            )
        _choose_kernels(library)
        setattr(library, "brio_place", place)
        return library
    raise ImportError(
        "the library of brio was not found ("
        + "; ".join(tried)
        + "). Build it with `make`, install it with `make install`, or "
        "give its path in BRIO_LIBRARY"
    )


_sim = c_void_p
_error = POINTER(CError)
_p = c_void_p  # arrays are passed by address
_PROTOTYPES: Any = {
    "brio_status_name": (c_char_p, c_int),
    "brio_status_text": (c_char_p, c_int),
    "brio_error_text": (None, _error, c_char_p, c_size_t),
    "brio_version": (c_char_p,),
    "brio_isa": (c_char_p,),
    "brio_set_threads": (None, c_int),
    "brio_threads": (c_int,),
    "brio_set_log": (None, LogFunction, c_void_p),
    "brio_scenes_folder": (c_char_p,),
    "brio_fields_defaults": (None, POINTER(CField), _p),
    "brio_material_at": (c_char_p, c_int),
    "brio_material_fields": (POINTER(CField), c_char_p),
    "brio_damping_at": (c_char_p, c_int),
    "brio_integrator": (POINTER(CIntegrator), c_char_p),
    "brio_integrator_at": (POINTER(CIntegrator), c_int),
    "brio_default_material": (c_int, c_char_p, POINTER(CMaterial), _error),
    "brio_default_body": (CBodyDef,),
    "brio_builder_create": (c_int, POINTER(c_void_p), _error),
    "brio_builder_free": (None, c_void_p),
    "brio_builder_gravity": (None, c_void_p, _p),
    "brio_builder_body": (c_int, c_void_p, POINTER(CBodyDef), POINTER(c_int), _error),
    "brio_default_script": (CScript,),
    "brio_builder_fix": (c_int, c_void_p, c_int, _p, c_int64, c_void_p, _error),
    "brio_builder_fix_axes": (c_int, c_void_p, c_int, _p, c_int64, c_uint, _error),
    "brio_builder_attach_all": (
        c_int,
        c_void_p,
        c_int,
        _p,
        c_int64,
        c_void_p,
        c_double,
        c_void_p,
        c_void_p,
        _error,
    ),
    "brio_builder_attach": (c_int, c_void_p, c_int, c_int32, _p, c_double, c_void_p, _error),
    "brio_builder_plane": (c_int, c_void_p, c_char_p, _p, _p, _error),
    "brio_force_fields": (POINTER(CField), c_char_p),
    "brio_default_force": (c_int, c_char_p, POINTER(CForceDef), _error),
    "brio_builder_force": (c_int, c_void_p, POINTER(CForceDef), _error),
    "brio_builder_rod": (c_int, c_void_p, c_int, c_int32, c_int, c_int32, c_double, _error),
    "brio_default_contact": (CContactDef,),
    "brio_builder_contact": (None, c_void_p, POINTER(CContactDef)),
    "brio_default_obstacle": (CObstacleDef,),
    "brio_builder_obstacle": (c_int, c_void_p, POINTER(CObstacleDef), _error),
    "brio_sim_edit": (c_int, _sim, POINTER(c_void_p), _error),
    "brio_sim_commit": (c_int, _sim, c_void_p, _error),
    "brio_checkpoint_has_bodies": (c_int, c_char_p),
    "brio_builder_remove_body": (c_int, c_void_p, c_int, _error),
    "brio_builder_remove_obstacle": (c_int, c_void_p, c_int, _error),
    "brio_builder_remove_rod": (c_int, c_void_p, c_int, c_int32, c_int, c_int32, _error),
    "brio_builder_remove_constraint": (c_int, c_void_p, c_char_p, _error),
    "brio_builder_detach": (c_int, c_void_p, c_int, c_int32, _error),
    "brio_builder_remove_force": (c_int, c_void_p, c_char_p, _error),
    "brio_builder_unfix": (c_int, c_void_p, c_int, _p, c_int64, _error),
    "brio_builder_cut": (c_int, c_void_p, c_int, _p, _p, c_int64, POINTER(c_int64), _error),
    "brio_builder_cut_plane": (c_int, c_void_p, c_int, _p, _p, POINTER(c_int64), _error),
    "brio_system_obstacles": (c_int, c_void_p),
    "brio_obstacle_name": (c_char_p, c_void_p, c_int),
    "brio_obstacle_vertices": (c_int64, c_void_p, c_int),
    "brio_obstacle_triangles": (c_void_p, c_void_p, c_int, POINTER(c_int64)),
    "brio_sim_obstacle_positions": (None, _sim, c_int, _p),
    "brio_sim_move_obstacle": (c_int, _sim, c_int, _p, _p, _error),
    "brio_sim_move_obstacle_to": (c_int, _sim, c_int, _p, _error),
    "brio_sim_note_contacts": (c_int, _sim, c_int, _error),
    "brio_sim_contacts": (c_int, _sim, c_void_p, c_int),
    "brio_body_drawn_vertices": (c_int64, c_void_p, c_int),
    "brio_body_drawn_triangles": (c_void_p, c_void_p, c_int, POINTER(c_int64)),
    "brio_sim_draw": (c_int, _sim, c_int, POINTER(CVertexBuffers), _error),
    "brio_constraint_fields": (POINTER(CField), c_char_p),
    "brio_default_constraint": (c_int, c_char_p, POINTER(CConstraintDef), _error),
    "brio_builder_constraint": (c_int, c_void_p, POINTER(CConstraintDef), _error),
    "brio_default_stitch": (CStitchDef,),
    "brio_builder_stitch": (c_int, c_void_p, POINTER(CStitchDef), POINTER(c_int64), _error),
    "brio_sim_reaction": (c_int, _sim, c_int, _p, _p),
    "brio_sim_stitches": (c_int64, _sim, POINTER(c_int64)),
    "brio_builder_finish": (c_int, c_void_p, POINTER(c_void_p), POINTER(c_void_p), _error),
    "brio_default_sim": (CSimDef, c_char_p),
    "brio_sim_create": (c_int, c_void_p, c_void_p, POINTER(CSimDef), POINTER(_sim), _error),
    "brio_sim_open": (c_int, POINTER(CSource), POINTER(_sim), _error),
    "brio_sim_free": (None, _sim),
    "brio_sim_step": (c_int, _sim, _error),
    "brio_sim_step_by": (c_int, _sim, c_double, _error),
    "brio_sim_settle": (c_int, _sim, _error),
    "brio_sim_watch": (None, _sim, WatchFunction, c_void_p),
    "brio_sim_reason": (c_char_p, _sim),
    "brio_sim_system": (c_void_p, _sim),
    "brio_sim_state": (c_void_p, _sim),
    "brio_sim_time": (c_double, _sim),
    "brio_sim_h": (c_double, _sim),
    "brio_sim_steps": (CSteps, _sim),
    "brio_sim_positions": (None, _sim, c_int, _p),
    "brio_sim_velocities": (None, _sim, c_int, _p),
    "brio_sim_set_positions": (c_int, _sim, c_int, _p, _error),
    "brio_sim_set_velocities": (c_int, _sim, c_int, _p, _error),
    "brio_sim_set_gravity": (c_int, _sim, _p, _error),
    "brio_sim_set_force": (c_int, _sim, c_int, c_double, _error),
    "brio_sim_ledger": (c_int, _sim, POINTER(CLedger)),
    "brio_sim_body_energy": (c_double, _sim, c_int),
    "brio_sim_coordinates": (c_int64, _sim),
    "brio_sim_masses": (None, _sim, _p),
    "brio_sim_gradient": (c_int, _sim, _p),
    "brio_sim_hessian": (c_int, _sim, c_int, POINTER(CTriplets), _error),
    "brio_triplets_free": (None, POINTER(CTriplets)),
    "brio_sim_save": (c_int, _sim, c_char_p, c_int, _error),
    "brio_sim_restore": (c_int, _sim, c_char_p, _error),
    "brio_sim_grab": (c_int, _sim, c_int, _p, c_double, POINTER(c_int), _error),
    "brio_sim_grab_vertex": (c_int, _sim, c_int, c_int64, c_double, POINTER(c_int), _error),
    "brio_sim_grab_ray": (c_int, _sim, _p, _p, c_double, POINTER(c_int), _p, _error),
    "brio_sim_drag": (c_int, _sim, c_int, _p, _error),
    "brio_sim_release": (c_int, _sim, c_int, _error),
    "brio_sim_hand": (c_int, _sim, c_int, POINTER(CHand)),
    "brio_sim_attachments": (c_int, _sim),
    "brio_sim_attachment": (c_int, _sim, c_int, POINTER(CHand)),
    "brio_sim_move_attachment": (c_int, _sim, c_int, _p, _error),
    "brio_sim_material": (c_int, _sim, c_int, c_char_p, POINTER(c_double)),
    "brio_sim_set_material": (c_int, _sim, c_int, c_char_p, c_double, _error),
    "brio_sim_damping_type": (c_char_p, _sim, c_int),
    "brio_sim_damping": (c_int, _sim, c_int, c_char_p, POINTER(c_double)),
    "brio_sim_set_damping": (c_int, _sim, c_int, c_char_p, c_double, _error),
    "brio_sim_set_integrator": (c_int, _sim, c_char_p, _p, _error),
    "brio_sim_integrator": (c_char_p, _sim, _p),
    "brio_run": (c_int, POINTER(CRunDef), POINTER(CProgress), _error),
    "brio_run_open": (c_int, c_char_p, POINTER(_sim), _error),
    "brio_system_bodies": (c_int, c_void_p),
    "brio_system_coordinates": (c_int64, c_void_p),
    "brio_body_name": (c_char_p, c_void_p, c_int),
    "brio_body_vertices": (c_int64, c_void_p, c_int),
    "brio_body_material": (c_char_p, c_void_p, c_int),
    "brio_body_triangles": (c_void_p, c_void_p, c_int, POINTER(c_int64)),
    "brio_body_edges": (c_void_p, c_void_p, c_int, POINTER(c_int64)),
    "brio_body_tets": (c_void_p, c_void_p, c_int, POINTER(c_int64)),
    "brio_state_copy": (c_int, c_void_p, POINTER(c_void_p), _error),
    "brio_state_assign": (None, c_void_p, c_void_p),
    "brio_state_free": (None, c_void_p),
    "brio_state_q": (c_void_p, c_void_p),
    "brio_state_v": (c_void_p, c_void_p),
    "brio_load_plugin": (c_int, c_char_p, _error),
    "brio_law_at": (c_char_p, c_int),
    "brio_force_at": (c_char_p, c_int),
    "brio_register_force": (c_int, POINTER(CForceTypeDef), _error),
    "brio_register_law": (c_int, POINTER(CLawDef), _error),
    "brio_damping_fields": (POINTER(CField), c_char_p),
    "brio_default_damping": (c_int, c_char_p, POINTER(CDamping), _error),
    "brio_shape_fields": (POINTER(CField), c_char_p),
    "brio_builder_solid": (c_int, c_void_p, c_char_p, c_char_p, _p, _p, _p, _error),
    "brio_builder_heightfield": (
        c_int,
        c_void_p,
        c_char_p,
        c_int,
        c_int,
        _p,
        c_double,
        _p,
        _p,
        _error,
    ),
    "brio_builder_friction": (c_int, c_void_p, c_int, c_int, c_double, _error),
    "brio_builder_exclude": (c_int, c_void_p, c_int, c_int, _error),
    "brio_register_energy": (c_int, POINTER(CEnergyDef), _error),
    "brio_register_integrator": (c_int, POINTER(CIntegrator), _error),
    "brio_stepper_coordinates": (c_int64, c_void_p),
    "brio_stepper_q": (c_void_p, c_void_p),
    "brio_stepper_v": (c_void_p, c_void_p),
    "brio_stepper_time": (c_double, c_void_p),
    "brio_stepper_value": (c_double, c_void_p, c_char_p),
    "brio_stepper_history": (c_void_p, c_void_p, c_int),
    "brio_stepper_history_used": (c_int, c_void_p),
    "brio_stepper_set_history_used": (None, c_void_p, c_int),
    "brio_stepper_last_h": (c_double, c_void_p),
    "brio_stepper_minimise": (c_int, c_void_p, POINTER(CObjective), _p),
    "brio_stepper_potential": (c_double, c_void_p, _p, c_double, _p),
    "brio_stepper_force": (None, c_void_p, _p, _p, c_double, c_double, c_double, _p),
    "brio_stepper_mass_solve": (None, c_void_p, _p, _p),
    "brio_stepper_mass_multiply": (None, c_void_p, _p, _p),
    "brio_stepper_kinetic": (c_double, c_void_p, _p),
    "brio_stepper_linearise": (c_int, c_void_p, _p, c_double),
    "brio_stepper_stiffness": (None, c_void_p, _p, _p),
    "brio_stepper_linear_solve": (c_int, c_void_p, _p, c_double, c_double, _p, _p),
    "brio_stepper_target": (c_double, c_void_p),
    "brio_stepper_set_target": (None, c_void_p, c_double, c_double),
    "brio_stepper_work": (None, c_void_p, _p, c_double, POINTER(c_double), POINTER(c_double)),
    "brio_stepper_memo": (_double_p, c_void_p, c_int),
    "brio_stepper_fail": (c_int, c_void_p, c_int, c_char_p),
    "brio_stepper_accept": (c_int, c_void_p, c_double, _p, _p),
}

lib: Any = _load()
has_commands = hasattr(lib, "brio_command")
if has_commands:
    lib.brio_command.restype, lib.brio_command.argtypes = c_int, [c_int, POINTER(c_char_p)]
for _name, (_result, *_arguments) in _PROTOTYPES.items():
    getattr(lib, _name).restype = _result
    getattr(lib, _name).argtypes = _arguments


# ---- statuses and errors -------------------------------------------------------------------------


class Status(enum.IntEnum):
    """Outcomes: 0 is fine, positive ones are of the mathematics, negative ones are errors
    (``BRIO_STATUS_LIST`` of brio.h)."""

    OK = 0
    NOT_CONVERGED = 1
    LINE_SEARCH_STALLED = 2
    NOT_POSITIVE_DEFINITE = 3
    STEP_REJECTED = 4
    NOT_FINITE = 5
    STOPPED = 6
    EXPLODED = 7
    ERROR_MEMORY = -1
    ERROR_ARGUMENT = -2
    ERROR_INPUT = -3
    ERROR_FILE = -4
    ERROR_UNSUPPORTED = -5
    ERROR_EXISTS = -6
    ERROR_TOO_LARGE = -7


class Error(Exception):
    """What brio rejected or could not do, and why.

    >>> import brio
    >>> try:
    ...     brio.load({"brio": 1, "bodies": [{"shape": {"type": "bax"}, "material": {"type": "neo-hookean"}}]})
    ... except brio.Error as error:
    ...     print(error.status.name, error.path)
    ERROR_INPUT bodies[0].shape.type
    """

    status: Any  #: of ``brio.Status``
    file: Optional[str]  #: the file at fault
    line: Optional[int]  #: in it, from 1
    column: Optional[int]  #: in the line, from 1
    path: Optional[str]  #: in the document, like ``bodies[0].material``
    message: str  #: what was expected, and the remedy

    def __init__(
        self,
        message: str,
        status: Any = None,
        file: Optional[str] = None,
        line: Optional[int] = None,
        column: Optional[int] = None,
        path: Optional[str] = None,
        text: Optional[str] = None,
    ):
        super().__init__(text or message)
        self.message = message
        self.status = Status.ERROR_ARGUMENT if status is None else Status(status)
        self.file, self.line, self.column, self.path = file, line, column, path


def error_of(status: int, error: CError) -> Error:
    """The exception of a C error."""
    text = ctypes.create_string_buffer(2048)
    if not error.message:
        error.status, error.message = status, lib.brio_status_text(status)
    lib.brio_error_text(byref(error), text, len(text))
    return Error(
        _text(error.message),
        status,
        _text(error.file) or None,
        error.line or None,
        error.column or None,
        _text(error.path) or None,
        _text(text.value),
    )


def _text(raw: Optional[bytes]) -> str:
    return (raw or b"").decode(errors="replace")
