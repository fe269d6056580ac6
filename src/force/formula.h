/* Formulas of time and place: a small expression language without loops, names of its own or
 * memory.
 *
 *     sum     = product {("+" | "-") product}
 *     product = sign {("*" | "/") sign}
 *     sign    = ("-" | "+") sign | power
 *     power   = primary ["^" sign]                      (2^3^2 = 2^(3^2), -x^2 = -(x^2))
 *     primary = number | t | x | y | z | pi | "(" sum ")" | name "(" sum {"," sum} ")"
 *
 * A formula is compiled once to a list of operations on a stack and evaluated without allocation,
 * with first and second derivatives by x, y, z where they are wanted: each entry of the stack is
 * then a value with its gradient and Hessian, and every operation is carried through by the chain
 * rule (forward mode). Kinks (abs, min, max, step) have the derivatives of the side they are on. */
#ifndef BRIO_FORMULA_H
#define BRIO_FORMULA_H

#include "../base.h"

enum {
    BRIO_FORMULA_LENGTH = 400, /* bytes of text */
    BRIO_FORMULA_CODE = 200,   /* operations */
    BRIO_FORMULA_STACK = 32    /* values at once; also the depth of brackets */
};

/* What a formula depends on. */
enum { BRIO_FORMULA_TIME = 1, BRIO_FORMULA_PLACE = 2 };

typedef struct BrioFormulaStep {
    int op;
    double number; /* of a constant */
} BrioFormulaStep;

typedef struct BrioFormula {
    int count;
    unsigned uses;
    BrioFormulaStep code[BRIO_FORMULA_CODE];
} BrioFormula;

/* Compiles a text. On failure `column` (from 1) is the place in it, and the error has the sentence
 * only. */
BrioStatus brio__formula_compile(const char *text, BrioFormula *formula, int *column,
                                 BrioError *error);
/* Whether a formula that was read from a file can be evaluated: known operations that find their
 * values, never too many at once, and one value at the end. */
bool brio__formula_runs(const BrioFormula *formula);
/* The value at a place and a time. */
double brio__formula_value(const BrioFormula *formula, const double x[3], double time);
/* The same with the gradient and, unless NULL, the Hessian xx, xy, xz, yy, yz, zz. */
double brio__formula_derivatives(const BrioFormula *formula, const double x[3], double time,
                                 double gradient[3], double hessian[6]);

#endif
