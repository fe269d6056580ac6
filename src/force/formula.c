/* Formulas: the compiler, and the evaluation with and without derivatives (formula.h). */
#include "formula.h"

#include "../number.h"

#include <ctype.h>
#include <stdarg.h>
#include <string.h>

typedef enum Op {
    OP_NUMBER,
    OP_T,
    OP_X,
    OP_Y,
    OP_Z,
    OP_NEGATE,
    OP_ADD,
    OP_SUBTRACT,
    OP_MULTIPLY,
    OP_DIVIDE,
    OP_POWER,
    OP_SIN,
    OP_COS,
    OP_TAN,
    OP_EXP,
    OP_LOG,
    OP_SQRT,
    OP_ABS,
    OP_MIN,
    OP_MAX,
    OP_STEP,
    OP_SMOOTHSTEP
} Op;

typedef struct Name {
    const char *text;
    Op op;
    int arguments; /* 0: a variable */
} Name;

static const Name names[] = {
    {"t", OP_T, 0},       {"x", OP_X, 0},       {"y", OP_Y, 0},
    {"z", OP_Z, 0},       {"sin", OP_SIN, 1},   {"cos", OP_COS, 1},
    {"tan", OP_TAN, 1},   {"exp", OP_EXP, 1},   {"log", OP_LOG, 1},
    {"sqrt", OP_SQRT, 1}, {"abs", OP_ABS, 1},   {"min", OP_MIN, 2},
    {"max", OP_MAX, 2},   {"step", OP_STEP, 2}, {"smoothstep", OP_SMOOTHSTEP, 3},
};

/* ---- the compiler ----------------------------------------------------------------------- */

typedef struct Parser {
    const char *text, *at;
    BrioFormula *formula;
    int stack, depth; /* values that the code so far leaves; brackets and signs that are open */
    int column;       /* of the first error */
    BrioError *error;
} Parser;

static BrioStatus fail(Parser *p, const char *at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static BrioStatus fail(Parser *p, const char *at, const char *format, ...)
{
    char text[200];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    p->column = (int)(at - p->text) + 1;
    return brio__error(p->error, BRIO_ERROR_INPUT, "%s", text);
}

static void skip(Parser *p)
{
    while (*p->at == ' ' || *p->at == '\t' || *p->at == '\n') p->at++;
}

static BrioStatus emit(Parser *p, Op op, double number, int takes)
{
    BrioFormula *f = p->formula;
    p->stack += 1 - takes;
    if (f->count == BRIO_FORMULA_CODE || p->stack > BRIO_FORMULA_STACK)
        return fail(p, p->at, "the formula is too long: at most %d operations, %d of them waiting",
                    BRIO_FORMULA_CODE, BRIO_FORMULA_STACK);
    f->code[f->count++] = (BrioFormulaStep){(int)op, number};
    if (op == OP_T) f->uses |= BRIO_FORMULA_TIME;
    if (op == OP_X || op == OP_Y || op == OP_Z) f->uses |= BRIO_FORMULA_PLACE;
    return BRIO_OK;
}

static BrioStatus sum(Parser *p);
static BrioStatus sign(Parser *p);

static BrioStatus expect(Parser *p, char c, const char *after)
{
    skip(p);
    if (*p->at == c) return p->at++, BRIO_OK;
    if (*p->at) return fail(p, p->at, "expected '%c' %s, found '%c'", c, after, *p->at);
    return fail(p, p->at, "expected '%c' %s, and the formula ends", c, after);
}

static BrioStatus call(Parser *p, const Name *name, const char *start)
{
    char after[48];
    snprintf(after, sizeof after, "after %s", name->text);
    BRIO_CHECK(expect(p, '(', after));
    for (int i = 0; i < name->arguments; i++) {
        if (i > 0) {
            skip(p);
            if (*p->at != ',')
                return fail(p, start, "%s takes %d arguments", name->text, name->arguments);
            p->at++;
        }
        BRIO_CHECK(sum(p));
    }
    skip(p);
    if (*p->at == ',')
        return fail(p, start, "%s takes %d argument%s", name->text, name->arguments,
                    name->arguments > 1 ? "s" : "");
    BRIO_CHECK(expect(p, ')', "at the end of the arguments"));
    return emit(p, name->op, 0, name->arguments);
}

static BrioStatus word(Parser *p)
{
    const char *start = p->at;
    char text[24];
    size_t length = 0;
    while (isalnum((unsigned char)p->at[0]) || p->at[0] == '_') p->at++, length++;
    snprintf(text, sizeof text, "%.*s", (int)BRIO_MIN(length, sizeof text - 1), start);
    if (!strcmp(text, "pi")) return emit(p, OP_NUMBER, 3.14159265358979323846, 0);
    const char *all[BRIO_COUNT(names) + 1] = {"pi"};
    for (size_t i = 0; i < BRIO_COUNT(names); i++) {
        all[i + 1] = names[i].text;
        if (strcmp(text, names[i].text)) continue;
        return names[i].arguments ? call(p, &names[i], start) : emit(p, names[i].op, 0, 0);
    }
    const char *nearest = brio__nearest(text, all, BRIO_COUNT(all));
    if (nearest)
        return fail(p, start, "no name \"%s\" in formulas; did you mean \"%s\"?", text, nearest);
    return fail(p, start,
                "no name \"%s\" in formulas; there are t, x, y, z, pi, sin, cos, tan, exp, log, "
                "sqrt, abs, min, max, step, smoothstep",
                text);
}

/* Digits, a point, an exponent; nothing else that strtod accepts. */
static BrioStatus number(Parser *p)
{
    const char *start = p->at;
    char text[48];
    while (isdigit((unsigned char)*p->at) || *p->at == '.') p->at++;
    if (*p->at == 'e' || *p->at == 'E') {
        const char *exponent = p->at + 1;
        if (*exponent == '+' || *exponent == '-') exponent++;
        if (isdigit((unsigned char)*exponent)) {
            while (isdigit((unsigned char)*exponent)) exponent++;
            p->at = exponent;
        }
    }
    size_t length = (size_t)(p->at - start);
    snprintf(text, sizeof text, "%.*s", (int)BRIO_MIN(length, sizeof text - 1), start);
    char *end = text;
    double value = length < sizeof text ? brio__text_real(text, &end) : NAN;
    if (*end || end == text || !isfinite(value))
        return fail(p, start, "\"%s\" is not a number", text);
    return emit(p, OP_NUMBER, value, 0);
}

static BrioStatus primary(Parser *p)
{
    skip(p);
    char c = *p->at;
    if (isdigit((unsigned char)c) || c == '.') return number(p);
    if (isalpha((unsigned char)c) || c == '_') return word(p);
    if (c == '(') {
        p->at++;
        BRIO_CHECK(sum(p));
        return expect(p, ')', "to close the bracket");
    }
    if (c == 0) return fail(p, p->at, "a number or a name is missing at the end of the formula");
    return fail(p, p->at, "expected a number, a name or '(', found '%c'", c);
}

static BrioStatus power(Parser *p)
{
    BRIO_CHECK(primary(p));
    skip(p);
    if (*p->at != '^') return BRIO_OK;
    p->at++;
    BRIO_CHECK(sign(p));
    return emit(p, OP_POWER, 0, 2);
}

static BrioStatus sign(Parser *p)
{
    skip(p);
    if (++p->depth > 2 * BRIO_FORMULA_STACK)
        return fail(p, p->at, "the formula is nested too deeply: at most %d levels",
                    2 * BRIO_FORMULA_STACK);
    BrioStatus status;
    if (*p->at == '-' || *p->at == '+') {
        bool minus = *p->at++ == '-';
        status = sign(p);
        if (status == BRIO_OK && minus) status = emit(p, OP_NEGATE, 0, 1);
    } else {
        status = power(p);
    }
    p->depth--;
    return status;
}

static BrioStatus product(Parser *p)
{
    BRIO_CHECK(sign(p));
    for (skip(p); *p->at == '*' || *p->at == '/'; skip(p)) {
        Op op = *p->at++ == '*' ? OP_MULTIPLY : OP_DIVIDE;
        BRIO_CHECK(sign(p));
        BRIO_CHECK(emit(p, op, 0, 2));
    }
    return BRIO_OK;
}

static BrioStatus sum(Parser *p)
{
    BRIO_CHECK(product(p));
    for (skip(p); *p->at == '+' || *p->at == '-'; skip(p)) {
        Op op = *p->at++ == '+' ? OP_ADD : OP_SUBTRACT;
        BRIO_CHECK(product(p));
        BRIO_CHECK(emit(p, op, 0, 2));
    }
    return BRIO_OK;
}

BrioStatus brio__formula_compile(const char *text, BrioFormula *formula, int *column,
                                 BrioError *error)
{
    Parser p = {.text = text, .at = text, .formula = formula, .error = error};
    *formula = (BrioFormula){0};
    BrioStatus status = BRIO_OK;
    if (strlen(text) > BRIO_FORMULA_LENGTH)
        status = fail(&p, text + BRIO_FORMULA_LENGTH, "a formula has at most %d characters",
                      BRIO_FORMULA_LENGTH);
    if (status == BRIO_OK) status = sum(&p);
    skip(&p);
    if (status == BRIO_OK && *p.at)
        status = fail(&p, p.at, "expected an operator, found '%c'", *p.at);
    *column = p.column;
    return status;
}

/* ---- values ----------------------------------------------------------------------------- */

/* (a^b with b constant has derivatives at a <= 0 too, and zero factors stay zero there) */
static double power_of(double a, double b) { return b == 0 ? 1 : pow(a, b); }

static double smooth(double e) { return e * e * (3 - 2 * e); }

static double fraction(double from, double to, double x)
{
    double e = (x - from) / (to - from);
    return e < 0 ? 0 : e > 1 ? 1 : e;
}

static double binary(Op op, double a, double b)
{
    switch (op) {
    case OP_ADD: return a + b;
    case OP_SUBTRACT: return a - b;
    case OP_MULTIPLY: return a * b;
    case OP_DIVIDE: return a / b;
    case OP_POWER: return power_of(a, b);
    case OP_MIN: return a < b ? a : b;
    case OP_MAX: return a > b ? a : b;
    default: return b >= a ? 1 : 0; /* step */
    }
}

/* A function of one argument with its first and second derivative. */
static void unary(Op op, double a, double f[3])
{
    f[1] = f[2] = 0;
    switch (op) {
    case OP_NEGATE: f[0] = -a, f[1] = -1; return;
    case OP_SIN: f[0] = sin(a), f[1] = cos(a), f[2] = -f[0]; return;
    case OP_COS: f[0] = cos(a), f[1] = -sin(a), f[2] = -f[0]; return;
    case OP_TAN: f[0] = tan(a), f[1] = 1 + f[0] * f[0], f[2] = 2 * f[0] * f[1]; return;
    case OP_EXP: f[0] = f[1] = f[2] = exp(a); return;
    case OP_LOG: f[0] = log(a), f[1] = 1 / a, f[2] = -f[1] * f[1]; return;
    case OP_SQRT: f[0] = sqrt(a), f[1] = 0.5 / f[0], f[2] = -0.5 * f[1] / a; return;
    default: f[0] = fabs(a), f[1] = a < 0 ? -1 : 1; return; /* abs */
    }
}

static int values_taken(int op)
{
    if (op <= OP_Z) return 0;
    if (op == OP_NEGATE || (op >= OP_SIN && op <= OP_ABS)) return 1;
    return op == OP_SMOOTHSTEP ? 3 : 2;
}

bool brio__formula_runs(const BrioFormula *formula)
{
    int stack = 0;
    bool runs = formula->count > 0 && formula->count <= BRIO_FORMULA_CODE;
    for (int i = 0; runs && i < formula->count; i++) {
        int op = formula->code[i].op, takes = values_taken(op);
        runs = op >= 0 && op <= OP_SMOOTHSTEP && takes <= stack;
        stack += 1 - takes;
        runs = runs && stack <= BRIO_FORMULA_STACK;
    }
    return runs && stack == 1;
}

double brio__formula_value(const BrioFormula *formula, const double x[3], double time)
{
    double stack[BRIO_FORMULA_STACK + 1], f[3];
    int top = 0;
    for (int i = 0; i < formula->count; i++) {
        Op op = (Op)formula->code[i].op;
        if (op == OP_NUMBER) {
            stack[top++] = formula->code[i].number;
        } else if (op == OP_T) {
            stack[top++] = time;
        } else if (op <= OP_Z) {
            stack[top++] = x[op - OP_X];
        } else if (op == OP_SMOOTHSTEP) {
            top -= 2;
            stack[top - 1] = smooth(fraction(stack[top - 1], stack[top], stack[top + 1]));
        } else if (op == OP_NEGATE || (op >= OP_SIN && op <= OP_ABS)) {
            unary(op, stack[top - 1], f);
            stack[top - 1] = f[0];
        } else {
            top--;
            stack[top - 1] = binary(op, stack[top - 1], stack[top]);
        }
    }
    return stack[0];
}

/* ---- derivatives ------------------------------------------------------------------------ */

typedef struct Jet {
    double v, g[3], h[6];
} Jet;

static const int row_of[6] = {0, 0, 0, 1, 1, 2}, column_of[6] = {0, 1, 2, 1, 2, 2};

/* f(a), given f and its derivatives at a. */
static Jet chain(const Jet *a, const double f[3])
{
    Jet out = {.v = f[0]};
    for (int r = 0; r < 3; r++) out.g[r] = f[1] * a->g[r];
    for (int k = 0; k < 6; k++)
        out.h[k] = f[1] * a->h[k] + f[2] * a->g[row_of[k]] * a->g[column_of[k]];
    return out;
}

static Jet combine(double alpha, const Jet *a, double beta, const Jet *b)
{
    Jet out = {.v = alpha * a->v + beta * b->v};
    for (int r = 0; r < 3; r++) out.g[r] = alpha * a->g[r] + beta * b->g[r];
    for (int k = 0; k < 6; k++) out.h[k] = alpha * a->h[k] + beta * b->h[k];
    return out;
}

static Jet times(const Jet *a, const Jet *b)
{
    Jet out = {.v = a->v * b->v};
    for (int r = 0; r < 3; r++) out.g[r] = a->v * b->g[r] + b->v * a->g[r];
    for (int k = 0; k < 6; k++) {
        int i = row_of[k], j = column_of[k];
        out.h[k] = a->v * b->h[k] + b->v * a->h[k] + a->g[i] * b->g[j] + a->g[j] * b->g[i];
    }
    return out;
}

static bool is_constant(const Jet *a)
{
    bool zero = true;
    for (int r = 0; r < 3; r++) zero &= a->g[r] == 0;
    for (int k = 0; k < 6; k++) zero &= a->h[k] == 0;
    return zero;
}

static Jet over(const Jet *a, const Jet *b)
{
    double inverse = 1 / b->v;
    double f[3] = {inverse, -inverse * inverse, 2 * inverse * inverse * inverse};
    Jet reciprocal = chain(b, f), out = times(a, &reciprocal);
    out.v = a->v / b->v; /* the bits of the value alone */
    return out;
}

static Jet raised(const Jet *a, const Jet *b)
{
    double e = b->v;
    if (is_constant(b)) {
        double f[3] = {power_of(a->v, e), e == 0 ? 0 : e * power_of(a->v, e - 1),
                       e == 0 || e == 1 ? 0 : e * (e - 1) * power_of(a->v, e - 2)};
        return chain(a, f);
    }
    double f[3];
    unary(OP_LOG, a->v, f);
    Jet logarithm = chain(a, f), product_of = times(&logarithm, b);
    unary(OP_EXP, product_of.v, f);
    Jet out = chain(&product_of, f);
    out.v = power_of(a->v, e);
    return out;
}

static Jet smoothed(const Jet *from, const Jet *to, const Jet *x)
{
    Jet above = combine(1, x, -1, from), width = combine(1, to, -1, from);
    Jet e = over(&above, &width);
    bool inside = e.v > 0 && e.v < 1;
    e.v = fraction(from->v, to->v, x->v);
    double f[3] = {smooth(e.v), inside ? 6 * e.v * (1 - e.v) : 0, inside ? 6 - 12 * e.v : 0};
    return chain(&e, f);
}

static Jet both(Op op, const Jet *a, const Jet *b)
{
    switch (op) {
    case OP_ADD: return combine(1, a, 1, b);
    case OP_SUBTRACT: return combine(1, a, -1, b);
    case OP_MULTIPLY: return times(a, b);
    case OP_DIVIDE: return over(a, b);
    case OP_POWER: return raised(a, b);
    case OP_MIN: return a->v < b->v ? *a : *b;
    case OP_MAX: return a->v > b->v ? *a : *b;
    default: return (Jet){.v = binary(OP_STEP, a->v, b->v)};
    }
}

double brio__formula_derivatives(const BrioFormula *formula, const double x[3], double time,
                                 double gradient[3], double hessian[6])
{
    Jet stack[BRIO_FORMULA_STACK + 1];
    int top = 0;
    for (int i = 0; i < formula->count; i++) {
        Op op = (Op)formula->code[i].op;
        if (op <= OP_Z) {
            Jet *jet = &stack[top++];
            *jet = (Jet){.v = op == OP_NUMBER ? formula->code[i].number
                              : op == OP_T    ? time
                                              : x[op - OP_X]};
            if (op >= OP_X) jet->g[op - OP_X] = 1;
        } else if (op == OP_SMOOTHSTEP) {
            top -= 2;
            stack[top - 1] = smoothed(&stack[top - 1], &stack[top], &stack[top + 1]);
        } else if (op == OP_NEGATE || (op >= OP_SIN && op <= OP_ABS)) {
            double f[3];
            unary(op, stack[top - 1].v, f);
            stack[top - 1] = chain(&stack[top - 1], f);
        } else {
            top--;
            stack[top - 1] = both(op, &stack[top - 1], &stack[top]);
        }
    }
    memcpy(gradient, stack[0].g, sizeof stack[0].g);
    if (hessian) memcpy(hessian, stack[0].h, sizeof stack[0].h);
    return stack[0].v;
}
