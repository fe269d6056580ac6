"""The structs of the package are those of the header, byte for byte."""
import ctypes
import os
import subprocess
import tempfile
import unittest

from brio import _library, _own

ROOT = os.environ.get("BRIO_SOURCE_DIR", ".")
STRUCTS = {
    "BrioError": _library.CError,
    "BrioField": _library.CField,
    "BrioSource": _library.CSource,
    "BrioLedger": _library.CLedger,
    "BrioHand": _library.CHand,
    "BrioIteration": _library.CIteration,
    "BrioProgress": _library.CProgress,
    "BrioRunDef": _library.CRunDef,
    "BrioObjective": _library.CObjective,
    "BrioIntegrator": _library.CIntegrator,
    "BrioMesh": _library.CMesh,
    "BrioMaterial": _library.CMaterial,
    "BrioBodyDef": _library.CBodyDef,
    "BrioSolverOptions": _library.CSolverOptions,
    "BrioDamping": _library.CDamping,
    "BrioSimDef": _library.CSimDef,
    "BrioSteps": _library.CSteps,
    "BrioElements": _library.CElements,
    "BrioEnergyDef": _library.CEnergyDef,
    "BrioContactDef": _library.CContactDef,
    "BrioObstacleDef": _library.CObstacleDef,
    "BrioContactEvent": _library.CContactEvent,
    "BrioVertexBuffers": _library.CVertexBuffers,
    "BrioTriplets": _library.CTriplets,
    "BrioForceCall": _library.CForceCall,
    "BrioForceDef": _library.CForceDef,
    "BrioConstraintDef": _library.CConstraintDef,
    "BrioStitchDef": _library.CStitchDef,
    "BrioSequence": _library.CSequence,
    "BrioScript": _library.CScript,
    "BrioForceTypeDef": _library.CForceTypeDef,
    "BrioLawDef": _library.CLawDef,
}
CONSTANTS = {
    "BRIO_ABI": _library.ABI,
    "BRIO_MAX_VALUES": _library.MAX_VALUES,
    "BRIO_MAX_DAMPING": _library.MAX_DAMPING,
    "BRIO_MAX_LIST + 1": 41,
    "BRIO_REAL": 0,
    "BRIO_VECTOR": 2,
    "BRIO_CHOICE": 4,
    "BRIO_LIST": 5,
    "BRIO_KIND_SPRINGS": _own._KINDS["springs"],
    "BRIO_KIND_SOLID": _own._KINDS["solid"],
    **{f"BRIO_{trait.name}": trait.value for trait in _own.Trait},
}


class Layout(unittest.TestCase):
    def test_structs_and_constants(self):
        lines, expected = [], []
        for name, struct in STRUCTS.items():
            lines.append(f'printf("{name} %zu\\n", sizeof({name}));')
            expected.append(f"{name} {ctypes.sizeof(struct)}")
            for field, *_ in struct._fields_:
                c_name = field.strip("_")
                lines.append(
                    f'printf("{name}.{c_name} %zu %zu\\n", offsetof({name}, {c_name}),'
                    f" sizeof((({name} *)0)->{c_name}));"
                )
                expected.append(
                    f"{name}.{c_name} {getattr(struct, field).offset} {getattr(struct, field).size}"
                )
        for name, value in CONSTANTS.items():
            lines.append(f'printf("{name} %d\\n", (int)({name}));')
            expected.append(f"{name} {value}")
        with tempfile.TemporaryDirectory() as folder:
            with open(f"{folder}/layout.c", "w") as file:
                file.write(
                    "#include <brio/matrices.h>\n#include <brio/plugin.h>\n#include <brio/tets.h>\n"
                    "#include <stdio.h>\nint main(void)\n{\n" + "\n".join(lines) + "\n}\n"
                )
            subprocess.run(
                [
                    os.environ.get("CC", "cc"),
                    f"-I{ROOT}/include",
                    f"{folder}/layout.c",
                    "-o",
                    f"{folder}/layout",
                ],
                check=True,
            )
            found = subprocess.run(
                [f"{folder}/layout"], stdout=subprocess.PIPE, text=True, check=True
            ).stdout.split("\n")[:-1]
        self.assertEqual(found, expected)
        print(f"{len(STRUCTS)} structs, {len(expected)} sizes and places")

    def test_statuses(self):
        with open(f"{ROOT}/include/brio/brio.h") as file:
            rows = [line for line in file if line.lstrip().startswith("X(")]
        listed = {row.split("(")[1].split(",")[0]: int(row.split(",")[1]) for row in rows}
        self.assertEqual({status.name: int(status) for status in _library.Status}, listed)
