/* Internals of the library that the command line and the page use in addition to the public header,
 * and why. Other programs need none of this; what they need belongs in brio.h. */
#ifndef BRIO_INTERNAL_H
#define BRIO_INTERNAL_H

/* clang-format off */
#include "build/affine.h"         /* spectrum: the mass points of affine bodies */
#include "contact/exact.h"        /* check, proof: whether a state intersects */
#include "sim/ledger.h"           /* compare, settle, spectrum: energies, momenta */
#include "brio/plugin.h"          /* all commands that load plug-ins */
#include "analyze/modes.h"        /* stability, spectrum, check: eigenvalues and modes */
#include "analyze/stability.h"    /* stability: the matrix of an integrator */
#include "base64.h"               /* live: the opening of a WebSocket */
#include "base.h"                 /* memory, seconds, nearest names, as in the library */
#include "build/builder.h"        /* bench: systems without a scene file */
#include "contact/contact.h"      /* check: distances of the initial state */
#include "contact/law.h"          /* reference: contact laws */
#include "contact/obstacle.h"     /* reference: obstacles with a formula */
#include "damping/damping.h"      /* reference: damping models and their fields */
#include "energy/energy.h"        /* --version: how many energies there are */
#include "constraint/constraint.h" /* reference: constraints and their fields */
#include "force/force.h"          /* reference: forces and their fields */
#include "field.h"                /* reference, bench: tables of parameters */
#include "linear/blas.h"          /* bench: the BLAS that was found */
#include "linear/cholmod_calls.h" /* bench: a second opinion */
#include "linear/linear.h"        /* reference, bench, --version: linear solvers */
#include "linear/scalar.h"        /* bench: the factorisation of local-global */
#include "memory_text.h"          /* reports, import: texts in memory */
#include "mesh/measure.h"         /* check, mesh: what a mesh is like */
#include "mesh/mesh.h"            /* mesh, check, import: reading and writing meshes */
#include "mesh/quality.h"         /* check: sizes and shapes */
#include "mesh/readers.h"         /* import: whole files */
#include "mesh/repair.h"          /* mesh: faults of a mesh */
#include "mesh/tetrahedralise.h"  /* mesh: tets by an outside program */
#include "number.h"               /* numbers as text that reads back, whatever the locale */
#include "output/film.h"          /* convert: motions as films */
#include "output/html.h"          /* reports: escaped text */
#include "output/json.h"          /* all commands with --json */
#include "output/motion.h"        /* reports, render, convert: the motion of a run */
#include "output/shade.h"         /* reports: colours and normals */
#include "output/svg.h"           /* reports, reproduce, spectrum: charts */
#include "picture/font.h"         /* render, reports: words in pictures */
#include "picture/png.h"          /* render, reports: pictures as files */
#include "picture/stage.h"        /* render, reports: a motion as a picture */
#include "energy/material.h"      /* reference: materials by name */
#include "potential/rigid.h"      /* reproduce: rigid motions */
#include "run/checkpoint.h"       /* compare: whether two runs are of one scene */
#include "run/explosion.h"        /* live: whether a simulation has exploded */
#include "run/record.h"           /* live: a simulation as a run */
#include "run/run.h"              /* run, compare, check, spectrum: runs and results */
#include "run/tables.h"           /* settle, proof: states as tables */
#include "scene/node.h"           /* live: excerpts of orders */
#include "scene/parse.h"          /* import, live: documents that must be JSON */
#include "scene/questions.h"      /* check, run: what is hardly meant */
#include "scene/scene.h"          /* all commands that take a scene */
#include "scene/schema.h"         /* help, list: the rows of a scene */
#include "scene/tree.h"           /* view, results: run.json */
#include "sim/apart.h"             /* check: what begins too near */
#include "sim/sim.h"              /* bench, reproduce: the solver of a simulation */
#include "solve/solver.h"         /* reference, run: solvers and their names */
#include "utf8.h"                 /* live: texts of clients */
#include "vec.h"                  /* lengths and distances */
#include "writer.h"               /* reports, reproduce: files that replace others at once */
#ifdef BRIO_HAVE_MPI
#include "processes.h"            /* main, cluster: a program that mpirun starts */
#endif
/* clang-format on */

#endif
