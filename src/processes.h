/* Several processes of one program, over MPI and PETSc: starting, stopping, and what to do when one
 * of them cannot go on.
 *
 * A program that may be started by mpirun calls brio__processes_start before anything else. Built
 * with MPI only. */
#ifndef BRIO_PROCESSES_H
#define BRIO_PROCESSES_H

#include "base.h"

/* Whether mpirun, or something like it, has started this process. */
bool brio__processes_launched(void);
BrioStatus brio__processes_start(BrioError *error);
void brio__processes_stop(void);
int brio__process(void);   /* 0 where there is only one */
int brio__processes(void); /* 1 where there is only one */
/* "PETSc 3.18.5, Open MPI 4.1.4" */
void brio__processes_version(char *text, size_t size);

/* What the program does when this process alone fails in an operation that the others wait in: a
 * status cannot reach them any more. The program says why and ends the job, with
 * brio__processes_abort. Without a hook the failure is logged. */
void brio__processes_on_loss(void (*lost)(const char *why));
void brio__processes_lose(const char *why);
/* Ends all processes of the job; for programs, the library does not call it. */
void brio__processes_abort(void) __attribute__((noreturn));

/* The same status and error on all processes: process 0's. */
BrioStatus brio__processes_same(BrioStatus status, BrioError *error);
/* The status and error of the first process that has one that is not BRIO_OK. Collective. */
BrioStatus brio__processes_agree(BrioStatus status, BrioError *error);

#endif
