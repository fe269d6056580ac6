"""Reads .pvd collections with VTK: times, fields, sizes. Writes truth.json, the vertices that other programs are compared with, from the doubles of the run's
frames.

    python3 vtk_check.py RUN FOLDER
"""
import json
import os
import re
import sys
import xml.etree.ElementTree

import numpy
import vtk
from vtk.util.numpy_support import vtk_to_numpy

run, folder = sys.argv[1:3]
setup = json.load(open(os.path.join(folder, "setup.json")))


def read_pvd(path):
    for entry in xml.etree.ElementTree.parse(path).getroot().iter("DataSet"):
        reader = vtk.vtkXMLUnstructuredGridReader()
        reader.SetFileName(os.path.join(os.path.dirname(path), entry.get("file")))
        reader.Update()
        assert reader.GetErrorCode() == 0, entry.get("file")
        yield float(entry.get("timestep")), reader.GetOutput()


def check(path, what):
    times = []
    grids = []
    for time, grid in read_pvd(path):
        inside = vtk_to_numpy(grid.GetFieldData().GetArray("TimeValue"))[0]
        assert inside == time, (inside, time)
        velocity = vtk_to_numpy(grid.GetPointData().GetArray("velocity"))
        assert velocity.shape == (grid.GetNumberOfPoints(), 3) and numpy.isfinite(velocity).all()
        assert grid.GetPointData().GetArray("body").GetNumberOfTuples() == grid.GetNumberOfPoints()
        assert grid.GetCellData().GetArray("body").GetNumberOfTuples() == grid.GetNumberOfCells()
        times.append(time)
        grids.append(grid)
    wanted = numpy.arange(len(times)) / setup["fps"]
    late = abs(numpy.array(times) - wanted).max()
    assert len(times) == setup["count"] and late <= setup["h"] + 1e-9, (len(times), late)
    print("%s: %d grids, %d points, %d cells, times %g to %g s, at most %.1e s after their instants" %
          (what, len(times), grids[0].GetNumberOfPoints(), grids[0].GetNumberOfCells(), times[0], times[-1], late))
    return grids


def arrays(grid):
    return vtk_to_numpy(grid.GetPoints().GetData()), vtk_to_numpy(grid.GetPointData().GetArray("body")), vtk_to_numpy(grid.GetPointData().GetArray("velocity"))


own = check(os.path.join(run, "frames", "frames.pvd"), "frames of the run")
converted = check(os.path.join(folder, "vtk.pvd"), "brio convert")


def obj_points(path):
    """Vertices of each object of an OBJ, how many faces and corners it has, and how many places of its texture these use."""
    found, textures = {}, []
    for line in open(path):
        if line.startswith("o "):
            name = line[2:].strip()
            found[name] = {"points": [], "faces": 0, "corners": 0, "textured": False, "places": set()}
        elif line.startswith("v "):
            found[name]["points"].append([float(x) for x in line.split()[1:]])
        elif line.startswith("vt "):
            found[name]["textured"] = True
            textures.append(tuple(round(float(x), 4) for x in line.split()[1:3]))
        elif line.startswith("f "):
            corners = [corner.split("/") for corner in line.split()[1:]]
            found[name]["faces"] += 1
            found[name]["corners"] += len(corners)
            found[name]["places"] |= {textures[int(corner[1]) - 1] for corner in corners if len(corner) > 1 and corner[1]}
    return found


# A body of triangles: our doubles. One with an embedded surface: what the run itself has written of it, in nine digits.
truth = {"frames": setup["frames"], "bodies": []}
for number, body in enumerate(setup["bodies"]):
    entry = {"name": body, "file": re.sub("[^A-Za-z0-9_.-]", "_", body), "points": {}}
    for frame in setup["frames"]:
        points, owner, velocity = arrays(own[frame])
        seen, seen_owner, seen_velocity = arrays(converted[frame])
        written = obj_points(os.path.join(run, "frames", "frame_%06d.obj" % frame))[body]
        entry.update(faces=written["faces"], corners=written["corners"], textured=written["textured"], places=len(written["places"]))
        ours = numpy.array(written["points"])
        if body in setup["plain"]:
            direct = points[owner == number]
            assert abs(direct - ours).max() < 1e-8
            ours = direct
            speed, worst = abs(velocity[owner == number]).max(), abs(velocity[owner == number] - seen_velocity[seen_owner == number]).max()
            print("%s, frame %d: converted velocities differ by %.1e of %.2g m/s" % (body, frame, worst, speed))
            assert worst < 1e-6
        worst = abs(seen[seen_owner == number] - ours).max()
        print("%s, frame %d: the converted vtu is off by %.2e m" % (body, frame, worst))
        assert worst < 1e-6
        entry["points"][str(frame)] = ours.tolist()
    truth["bodies"].append(entry)
json.dump(truth, open(os.path.join(folder, "truth.json"), "w"))
print("VTK %s: all right" % vtk.VTK_VERSION)
